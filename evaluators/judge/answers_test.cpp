// The judge's answers on a GPU's memory, on the fake driver.
#include "base/files.h"
#include "evaluators/device/gpu/fake_gpu_driver.h"
#include "evaluators/device/gpu/gpu_device.h"
#include "evaluators/device/gpu/gpu_module.h"
#include "evaluators/device/gpu/helper_kernels.h"
#include "evaluators/judge/answers.h"
#include "evaluators/worker/poison.h"

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using tasks::Buffer;
using tasks::DType;
using tasks::Verdict;

class AnswerStoreTest : public testing::Test {
protected:
  AnswerStoreTest() {
    GpuModuleFile module;
    module.architecture = "fake_1";
    module.image = {std::byte{1}};
    for (const std::string& kernel : gpu_helper_kernels()) {
      module.symbols[kernel] = kernel;
    }
    GpuDeviceOptions options;
    options.helpers = directory_.path() / "helpers";
    write_file_atomic(options.helpers, encode(module));
    auto owned = std::make_unique<FakeGpuDriver>();
    driver = owned.get();
    device = make_gpu_device(std::move(owned), std::move(options));
  }

  static Buffer output(const std::string& name, DType dtype, std::size_t count) {
    Buffer buffer;
    buffer.name = name;
    buffer.kind = Buffer::Kind::Output;
    buffer.dtype = dtype;
    buffer.count = static_cast<std::int64_t>(count);
    return buffer;
  }

  // As the reference leaves them: y is 2 everywhere and of magnitude 1.
  void remember(const std::string& key, std::size_t count) {
    tasks::ResolvedPlan plan;
    plan.buffers = {output("y", DType::F64, count), output("y_magnitude", DType::F64, count),
                    output("n", DType::I32, 2)};
    CaseRunner runner(*device, plan, 0);
    const std::vector<double> values(count, 2), magnitudes(count, 1);
    const std::vector<std::int32_t> integers{3, 4};
    runner.upload("y", std::as_bytes(std::span(values)));
    runner.upload("y_magnitude", std::as_bytes(std::span(magnitudes)));
    runner.upload("n", std::as_bytes(std::span(integers)));
    store.remember(key, plan, runner);
  }

  ComparisonResult compare_y(const std::string& key, const std::vector<float>& got) const {
    Comparison comparison;
    comparison.tensor = "y";
    comparison.shape = {static_cast<std::int64_t>(got.size())};
    comparison.got = std::as_bytes(std::span(got));
    comparison.poison = poison_pattern(DType::F32, 0);
    comparison.model = {tasks::Precision::F32, 16, 4, 0, false};
    return compare(comparison, store.at(key, "y"));
  }

  FakeGpuDriver* driver = nullptr;
  std::unique_ptr<Device> device;
  AnswerStore store; ///< dies before the device

private:
  TemporaryDirectory directory_{"answers"};
};

TEST_F(AnswerStoreTest, WhatIsRightIsSeenOnTheDevice) {
  remember("a", 100);
  EXPECT_NE(store.at("a", "y").kept, nullptr);
  EXPECT_TRUE(store.at("a", "y").expected.empty());
  const std::size_t downloads = driver->count("download");
  const auto result = compare_y("a", std::vector<float>(100, 2 + 0x1p-22F));
  EXPECT_EQ(result.verdict, Verdict::Correct);
  EXPECT_DOUBLE_EQ(result.max_error_ratio, 0.25); // rms: 1 of 4; elements: 2 of 17 units
  EXPECT_EQ(driver->count("download"), downloads + 1);
}

TEST_F(AnswerStoreTest, WhatIsWrongIsExplainedOnTheHost) {
  remember("a", 100);
  std::vector<float> got(100, 2);
  got[42] = 3;
  const auto result = compare_y("a", got);
  EXPECT_EQ(result.verdict, Verdict::Wrong);
  ASSERT_TRUE(result.mismatch);
  EXPECT_EQ(result.mismatch->pattern, "only element [42]");
}

TEST_F(AnswerStoreTest, IntegersAreExact) {
  remember("a", 1);
  Comparison comparison;
  comparison.tensor = "n";
  comparison.dtype = DType::I32;
  comparison.shape = {2};
  std::vector<std::int32_t> got{3, 4};
  comparison.got = std::as_bytes(std::span(got));
  EXPECT_EQ(compare(comparison, store.at("a", "n")).verdict, Verdict::Correct);
  got[1] = 5;
  const auto result = compare(comparison, store.at("a", "n"));
  EXPECT_EQ(result.verdict, Verdict::Wrong);
  EXPECT_EQ(result.mismatch->first_index, 1);
}

// The fake device has 1 GiB: an eighth for answers, half of which is for candidates' outputs.
TEST_F(AnswerStoreTest, OlderAnswersMakeRoom) {
  constexpr std::size_t kCount = std::size_t{1} << 21U; // 32 MiB with the magnitude
  remember("a", kCount - 64);
  remember("b", kCount - 64);
  EXPECT_TRUE(store.contains("a"));
  remember("c", kCount - 64);
  EXPECT_FALSE(store.contains("a"));
  EXPECT_NE(store.at("b", "y").kept, nullptr);
  EXPECT_NE(store.at("c", "y").kept, nullptr);
}

TEST_F(AnswerStoreTest, WhatHasNoRoomOnTheDeviceGoesToTheHost) {
  constexpr std::size_t kCount = std::size_t{5} << 20U; // 80 MiB with the magnitude
  remember("a", kCount);
  EXPECT_EQ(store.at("a", "y").kept, nullptr);
  EXPECT_EQ(compare_y("a", std::vector<float>(kCount, 2)).verdict, Verdict::Correct);
  EXPECT_EQ(compare_y("a", std::vector<float>(kCount, 1)).verdict, Verdict::Wrong);
}

} // namespace
} // namespace winnow::evaluators
