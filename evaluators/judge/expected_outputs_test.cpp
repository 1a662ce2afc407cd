// Tests ExpectedOutputs in a GPU's memory, with the fake driver.
#include "base/files.h"
#include "evaluators/device/gpu/gpu_device.h"
#include "evaluators/device/gpu/helper_kernels.h"
#include "evaluators/device/gpu/testing/gpu_driver_fake.h"
#include "evaluators/device/inspect/gpu_module.h"
#include "evaluators/judge/expected_outputs.h"
#include "evaluators/worker/poison.h"

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using tasks::Buffer;
using tasks::DType;
using tasks::Verdict;

class ExpectedOutputsTest : public testing::Test {
protected:
  static constexpr std::size_t kCount = 100;

  /// The reference is a kernel that writes y = 2, with magnitude 1, and n = {3, 4}.
  ExpectedOutputsTest() {
    GpuModuleFile module;
    module.architecture = "fake_1";
    module.image = {std::byte{1}};
    for (const std::string& kernel : gpu_helper_kernels()) {
      module.symbols[kernel] = kernel;
    }
    module.symbols["k"] = "k";
    GpuDeviceOptions options;
    options.helpers = directory_.path() / "helpers";
    write_file_atomic(options.helpers, encode(module));
    auto owned = std::make_unique<FakeGpuDriver>();
    driver = owned.get();
    driver->kernels.emplace("k", host_kernel(+[](double* y, double* magnitude, std::int32_t* n) {
                              std::fill_n(y, kCount, 2.0);
                              std::fill_n(magnitude, kCount, 1.0);
                              n[0] = 3;
                              n[1] = 4;
                            }));
    device = make_gpu_device(std::move(owned), std::move(options));
    device->load_module(directory_.path() / "helpers");
    tasks::ResolvedPlan plan;
    plan.buffers = {output("y", DType::F64, kCount), output("y_magnitude", DType::F64, kCount),
                    output("n", DType::I32, 2)};
    tasks::LaunchStep launch;
    launch.kernel = "k";
    for (const tasks::Buffer& buffer : plan.buffers) {
      tasks::ResolvedArgument argument;
      argument.kind = tasks::ResolvedArgument::Kind::Pointer;
      argument.buffer = buffer.name;
      argument.size_bytes = sizeof(void*);
      launch.arguments.push_back(argument);
    }
    plan.steps = {launch};
    expected.emplace(*device, plan, InputSeeds(1));
    EXPECT_FALSE(expected->run(true).has_value());
  }

  static Buffer output(const std::string& name, DType dtype, std::size_t count) {
    Buffer buffer;
    buffer.name = name;
    buffer.kind = Buffer::Kind::Output;
    buffer.dtype = dtype;
    buffer.count = static_cast<std::int64_t>(count);
    return buffer;
  }

  ComparisonResult compare_y(const std::vector<float>& got, const std::vector<Piece>& pieces = {}) {
    Comparison comparison;
    comparison.tensor = "y";
    comparison.shape = {static_cast<std::int64_t>(got.size())};
    comparison.got = std::as_bytes(std::span(got));
    comparison.poison = poison_pattern(DType::F32, 0);
    comparison.model = {tasks::Precision::F32, 16, 4, 0, false};
    return expected->compare(comparison, true, pieces);
  }

  FakeGpuDriver* driver = nullptr;
  std::unique_ptr<Device> device;
  std::optional<ExpectedOutputs> expected; ///< must be destroyed before the device

private:
  TemporaryDirectory directory_{"expected-outputs"};
};

TEST_F(ExpectedOutputsTest, WhatIsRightIsSeenOnTheDevice) {
  const std::size_t downloads = driver->count("download");
  const auto result = compare_y(std::vector<float>(kCount, 2 + 0x1p-22F));
  EXPECT_EQ(result.verdict, Verdict::Correct);
  EXPECT_DOUBLE_EQ(result.ratios.larger(), 0.25); // rms: 1 of 4; largest element: 2 of 17 units
  EXPECT_EQ(driver->count("download"), downloads + 1);
}

TEST_F(ExpectedOutputsTest, WhatIsWrongIsExplainedOnTheHost) {
  std::vector<float> got(kCount, 2);
  got[42] = 3;
  const auto result = compare_y(got);
  EXPECT_EQ(result.verdict, Verdict::Wrong);
  ASSERT_TRUE(result.mismatch);
  EXPECT_EQ(result.mismatch->pattern, "only element [42]");
}

/// A memory file with what a reference outside of the judge has put there.
class Exchange {
public:
  explicit Exchange(std::span<const double> values) : arena_(values.size_bytes()) {
    const ArenaView view(arena_.fd());
    std::copy_n(std::as_bytes(values).begin(), values.size_bytes(), view.all().begin());
  }
  ArenaView view() const { return ArenaView(arena_.fd()); }

private:
  Arena arena_;
};

TEST_F(ExpectedOutputsTest, APartOfAnAnswerFromOutsideIsAllThatCounts) {
  // y[10..12] = 5, y[90..92] = 6, each with the magnitude 1
  const std::vector<double> values{5, 5, 5, 6, 6, 6, 1, 1, 1, 1, 1, 1};
  const Exchange exchange(values);
  const std::vector<Piece> pieces{{10, 3}, {90, 3}};
  const std::vector<ArenaSlice> answers{{"y", 0, 48}, {"y_magnitude", 48, 48}};
  expected->give_inputs(exchange.view(), {}); // forgets what the reference wrote
  expected->take_answers(exchange.view(), answers, {{{"y", 0, 24}, pieces, DType::F32, {100}}});
  EXPECT_EQ(compare_y({5, 5, 5, 6, 6, 6}, pieces).verdict, Verdict::Correct);
  const auto wrong = compare_y({5, 5, 5, 6, 6, 7}, pieces);
  EXPECT_EQ(wrong.verdict, Verdict::Wrong);
  EXPECT_EQ(wrong.mismatch->first_index, 92);
  EXPECT_EQ(compare_y({5, 5, 5, 6, 6, 6}, {{10, 3}, {50, 3}}).verdict, Verdict::Infrastructure)
      << "nobody has answered there";
}

TEST_F(ExpectedOutputsTest, IntegersAreExact) {
  Comparison comparison;
  comparison.tensor = "n";
  comparison.dtype = DType::I32;
  comparison.shape = {2};
  std::vector<std::int32_t> got{3, 4};
  comparison.got = std::as_bytes(std::span(got));
  EXPECT_EQ(expected->compare(comparison).verdict, Verdict::Correct);
  got[1] = 5;
  const auto result = expected->compare(comparison);
  EXPECT_EQ(result.verdict, Verdict::Wrong);
  EXPECT_EQ(result.mismatch->first_index, 1);
}

} // namespace
} // namespace winnow::evaluators
