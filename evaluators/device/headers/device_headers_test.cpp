#include "evaluators/device/headers/device_headers.h"

#include "base/files.h"

#include <filesystem>

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

TEST(DeviceHeaders, WritesBothTreesAndTheAbi) {
  const TemporaryDirectory directory("headers");
  write_device_headers(directory.path());
  for (const char* file : {"cpu/abi.h", "cpu/winnow_cpu.h", "common/prelude.h", "common/vector",
                           "cpu/cub/block/block_reduce.cuh"}) {
    EXPECT_TRUE(std::filesystem::is_regular_file(directory.path() / file)) << file;
  }
  EXPECT_EQ(read_file(directory.path() / "cpu/cub/cub.cuh", 1000),
            "#error \"winnow-unsupported: <cub/cub.cuh> (CUB)\"\n");
}

TEST(DeviceHeaders, WritesAgainOnlyWhatIsIncomplete) {
  const TemporaryDirectory directory("headers");
  write_device_headers(directory.path());
  const auto kept = directory.path() / "common/prelude.h";
  const auto damaged = directory.path() / "cpu/abi.h";
  const auto written = std::filesystem::last_write_time(kept);
  const auto text = read_file(damaged, 1 << 20);
  write_file_atomic(damaged, "cut");
  write_device_headers(directory.path());
  EXPECT_EQ(read_file(damaged, 1 << 20), text);
  EXPECT_EQ(std::filesystem::last_write_time(kept), written);
}

TEST(DeviceHeaders, DigestIsOneSha256) { EXPECT_EQ(device_headers_digest().size(), 64U); }

} // namespace
} // namespace winnow::evaluators
