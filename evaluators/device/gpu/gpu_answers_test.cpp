#include "base/files.h"
#include "evaluators/device/gpu/fake_gpu_driver.h"
#include "evaluators/device/gpu/gpu_answers.h"
#include "evaluators/device/gpu/gpu_module.h"
#include "evaluators/device/gpu/helper_kernels.h"

#include <cmath>
#include <cstring>
#include <optional>

#include <gtest/gtest.h>

namespace winnow::evaluators::gpu {
namespace {

using tasks::DType;

constexpr std::size_t kStagingBytes = 64; // several parts even of small outputs
constexpr std::size_t kCount = 1003;

class AnswersTest : public testing::Test {
protected:
  AnswersTest() {
    GpuModuleFile module;
    module.architecture = "fake_1";
    module.image = {std::byte{1}};
    for (const std::string& kernel : gpu_helper_kernels()) {
      module.symbols[kernel] = kernel;
    }
    const auto path = directory_.path() / "helpers";
    write_file_atomic(path, encode(module));
    helpers_.emplace(driver, path);
    answers.emplace(driver, *helpers_, arena_, kStagingBytes);
  }

  template <class T> DeviceRange put(const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    const DeviceRange range{driver.allocate(bytes.size()), bytes.size()};
    driver.upload(range.begin, bytes);
    return range;
  }

  FakeGpuDriver driver;
  std::optional<Answers> answers;

private:
  TemporaryDirectory directory_{"gpu-answers"};
  std::optional<Helpers> helpers_;
  PinnedArena arena_{driver, {}};
};

// What is on the device is the host's arithmetic, part by part.
TEST_F(AnswersTest, CompareAsTheHostDoes) {
  std::vector<double> expected(kCount), magnitude(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    expected[i] = std::sin(static_cast<double>(i)) * 100;
    magnitude[i] = 100 + static_cast<double>(i % 7);
  }
  const auto kept = answers->keep(put(expected), put(magnitude));
  ASSERT_NE(kept, nullptr);
  const ErrorLimits limits{0x1p-10, 0.5, 0.1, 0x1p-9, 1e-3, false};
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F8E4M3, DType::F64}) {
    const std::size_t size = tasks::size_bytes(dtype);
    std::vector<std::byte> got(kCount * size);
    ErrorTotals totals;
    for (std::size_t i = 0; i < kCount; ++i) {
      const double wrong = i == 5 ? std::nan("") : i % 10 == 0 ? 3 : 0;
      tasks::store_element(dtype, got.data() + i * size, expected[i] + wrong);
      const double stored = tasks::load_element(dtype, got.data() + i * size);
      totals.add(error_of(stored, expected[i], magnitude[i], limits));
    }
    const ErrorTotals found = kept->compare(got, dtype, limits);
    EXPECT_GT(totals.beyond, 100U);
    EXPECT_EQ(found.beyond, totals.beyond) << to_string(dtype);
    EXPECT_EQ(found.counted, totals.counted);
    EXPECT_EQ(found.max_ratio, totals.max_ratio);
    EXPECT_EQ(found.square_sum, totals.square_sum); // infinite: of the NaN
    EXPECT_THROW(kept->compare(std::span(got).first(got.size() - size), dtype, limits), Error);
  }
}

TEST_F(AnswersTest, SumTheSquaresOfAllParts) {
  const std::vector<double> ones(kCount, 1);
  std::vector<float> got(kCount, 1 + 0x1p-20F);
  const auto kept = answers->keep(put(ones), put(ones));
  const ErrorTotals totals =
      kept->compare(std::as_bytes(std::span(got)), DType::F32, {0x1p-23, 16, 1, 0, 0, false});
  EXPECT_EQ(totals.beyond, 0U);
  EXPECT_EQ(totals.counted, kCount);
  EXPECT_EQ(totals.max_ratio, 0.5);
  EXPECT_EQ(totals.square_sum, 64.0 * kCount);
}

TEST_F(AnswersTest, CompareExactAnswersByByte) {
  for (const std::size_t at : {std::size_t{0}, kCount / 2, kCount - 1}) {
    std::vector<std::int8_t> expected(kCount, 3);
    const auto kept = answers->keep(put(expected), {});
    ASSERT_NE(kept, nullptr);
    EXPECT_EQ(kept->magnitude_bytes(), 0U);
    EXPECT_EQ(kept->compare(std::as_bytes(std::span(expected)), DType::I8, {}).beyond, 0U);
    expected[at] = 4;
    EXPECT_EQ(kept->compare(std::as_bytes(std::span(expected)), DType::I8, {}).beyond, 1U);
  }
}

TEST_F(AnswersTest, GiveTheAnswersBackUnchanged) {
  const std::vector<double> expected{1, 2, 3}, magnitude{4, 5, 6};
  const auto kept = answers->keep(put(expected), put(magnitude));
  std::vector<double> found(3), found_magnitude(3);
  kept->download(std::as_writable_bytes(std::span(found)),
                 std::as_writable_bytes(std::span(found_magnitude)));
  EXPECT_EQ(found, expected);
  EXPECT_EQ(found_magnitude, magnitude);
}

TEST_F(AnswersTest, TakeAnEighthOfTheMemoryAtMost) {
  const auto share = static_cast<std::size_t>(driver.facts().memory_bytes) / 8;
  const DeviceRange large = put(std::vector<std::byte>(share / 2));
  auto first = answers->keep(large, {});
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(answers->keep(large, {}), nullptr); // the staging area is there too
  first.reset();
  EXPECT_NE(answers->keep(large, {}), nullptr);
}

TEST_F(AnswersTest, LeaveItToTheHostWhenMemoryIsExhausted) {
  const DeviceRange answer = put(std::vector<double>{1, 2});
  const GpuError exhausted("cuMemAlloc", "CUDA_ERROR_OUT_OF_MEMORY", "no memory",
                           GpuFailure::OutOfMemory, false);
  driver.failures.emplace("allocate", exhausted);
  EXPECT_EQ(answers->keep(answer, answer), nullptr);
  EXPECT_NE(answers->keep(answer, answer), nullptr);
  const std::size_t releases = driver.count("release");
  driver.failures.emplace(
      "copy", GpuError("cuMemcpy", "CUDA_ERROR_UNKNOWN", "broken", GpuFailure::Other, true));
  EXPECT_THROW(answers->keep(answer, answer), GpuError);
  EXPECT_EQ(driver.count("release"), releases + 1); // the copy that failed
}

} // namespace
} // namespace winnow::evaluators::gpu
