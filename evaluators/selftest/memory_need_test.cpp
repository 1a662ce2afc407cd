#include "base/error.h"
#include "evaluators/selftest/memory_need.h"
#include "tasks/parse/task_parse.h"
#include "tasks/testing/copy_task_fake.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using testing::HasSubstr;

constexpr const char* kShapes = R"([[shapes.tiny]]
n = 5
[[shapes.search]]
n = 1000
devices = ["cpu"]
[[shapes.search]]
n = 1073741824
devices = ["cuda", "hip"]
[[shapes.promotion]]
n = 67108864
[[shapes.held_out]]
n = 1009
)";

std::string memory_error(std::string_view device_kind, std::int64_t bytes) {
  tasks::DeviceFacts facts;
  facts.memory_bytes = bytes;
  try {
    require_memory(
        tasks::parse_task({std::string(tasks::kCopyTaskToml) + kShapes, "", "", ""}, "task.toml"),
        device_kind, facts, "a device");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

// x in 4 bytes, y and its magnitude in 8: 20 bytes an element.
TEST(MemoryNeed, AShapeThatTheDeviceCannotHoldIsRefused) {
  constexpr std::int64_t kPromotion = std::int64_t{20} << 26U;
  EXPECT_EQ(memory_error("cpu", kPromotion), "no error");
  EXPECT_THAT(memory_error("cpu", kPromotion - 1),
              HasSubstr("task.toml:26:1: promotion/0 (n=67108864) needs 1.25 GiB"));
  EXPECT_THAT(memory_error("cuda", std::int64_t{16} << 30U),
              HasSubstr("task.toml:23:1: search/1 (n=1073741824) needs 20 GiB for the tensors of "
                        "reference.cu, but 16 GiB are available on a device"));
}

TEST(MemoryNeed, AShapeThatDoesNotFitIntoTheSharedMemoryIsRefused) {
  EXPECT_THAT(memory_error("cuda", std::int64_t{100} << 30U),
              HasSubstr("task.toml:23:1: : search/1 (n=1073741824) needs 21474836480 bytes for its "
                        "inputs and the reference's answers, but Winnow's processes share "
                        "4294967296"));
}

} // namespace
} // namespace winnow::evaluators
