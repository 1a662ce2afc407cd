#include "base/files.h"
#include "evaluators/device/gpu/gpu_comparison.h"
#include "evaluators/device/gpu/helper_kernels.h"
#include "evaluators/device/gpu/testing/gpu_driver_fake.h"
#include "evaluators/device/inspect/gpu_module.h"

#include <cmath>
#include <cstring>
#include <optional>

#include <gtest/gtest.h>

namespace winnow::evaluators::gpu {
namespace {

using tasks::DType;

constexpr std::size_t kStagingBytes = 64; // small, so that small outputs have several parts, too
constexpr std::size_t kCount = 1003;

class ComparerTest : public testing::Test {
protected:
  ComparerTest() {
    GpuModuleFile module;
    module.architecture = "fake_1";
    module.image = {std::byte{1}};
    for (const std::string& kernel : gpu_helper_kernels()) {
      module.symbols[kernel] = kernel;
    }
    const auto path = directory_.path() / "helpers";
    write_file_atomic(path, encode(module));
    helpers_.emplace(driver, path);
    comparer.emplace(driver, *helpers_, arena_, kStagingBytes);
  }

  template <class T> DeviceRange put(const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    const DeviceRange range{driver.allocate(bytes.size()), bytes.size()};
    driver.upload(range.begin, bytes);
    return range;
  }

  FakeGpuDriver driver;
  std::optional<Comparer> comparer;

private:
  TemporaryDirectory directory_{"gpu-comparison"};
  std::optional<Helpers> helpers_;
  PinnedArena arena_{driver, {}};
};

// The device computes the same as the host, part by part.
TEST_F(ComparerTest, CompareAsTheHostDoes) {
  std::vector<double> expected(kCount), magnitude(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    expected[i] = std::sin(static_cast<double>(i)) * 100;
    magnitude[i] = 100 + static_cast<double>(i % 7);
  }
  const DeviceRange answer = put(expected), magnitudes = put(magnitude);
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
    const ErrorTotals found =
        comparer->compare(got, {{0, kCount}}, dtype, answer, magnitudes, limits);
    EXPECT_GT(totals.beyond, 100U);
    EXPECT_EQ(found.beyond, totals.beyond) << to_string(dtype);
    EXPECT_EQ(found.counted, totals.counted);
    EXPECT_EQ(found.max_ratio, totals.max_ratio);
    EXPECT_EQ(found.square_sum, totals.square_sum); // infinite for the NaN
    EXPECT_THROW(comparer->compare(got, {{1, kCount}}, dtype, answer, magnitudes, limits), Error);
  }
}

TEST_F(ComparerTest, ComparePiecesWithTheirOwnElements) {
  std::vector<double> expected(kCount, 1);
  std::fill_n(expected.begin() + 500, 100, 2.0);
  const DeviceRange answer = put(expected), ones = put(std::vector<double>(kCount, 1));
  std::vector<float> got(110, 2); // 100 of one piece, 10 of another; parts of 16 elements
  std::fill_n(got.begin() + 100, 10, 1.0F);
  const auto beyond = [&](const std::vector<Piece>& pieces) {
    return comparer
        ->compare(std::as_bytes(std::span(got)), pieces, DType::F32, answer, ones,
                  {0x1p-23, 16, 1, 0, 0, false})
        .beyond;
  };
  EXPECT_EQ(beyond({{500, 100}, {700, 10}}), 0U);
  EXPECT_EQ(beyond({{492, 100}, {700, 10}}), 8U);
  EXPECT_EQ(beyond({{500, 100}, {595, 10}}), 5U);
  EXPECT_THROW(beyond({{500, 100}, {kCount - 9, 10}}), Error);
  EXPECT_THROW(beyond({{500, 100}, {700, 11}}), Error);
}

TEST_F(ComparerTest, SumTheSquaresOfAllParts) {
  const std::vector<double> ones(kCount, 1);
  std::vector<float> got(kCount, 1 + 0x1p-20F);
  const ErrorTotals totals =
      comparer->compare(std::as_bytes(std::span(got)), {{0, kCount}}, DType::F32, put(ones),
                        put(ones), {0x1p-23, 16, 1, 0, 0, false});
  EXPECT_EQ(totals.beyond, 0U);
  EXPECT_EQ(totals.counted, kCount);
  EXPECT_EQ(totals.max_ratio, 0.5);
  EXPECT_EQ(totals.square_sum, 64.0 * kCount);
}

TEST_F(ComparerTest, CompareExactAnswersByByte) {
  for (const std::size_t at : {std::size_t{0}, kCount / 2, kCount - 1}) {
    std::vector<std::int8_t> expected(kCount, 3);
    const DeviceRange answer = put(expected);
    const auto beyond = [&] {
      return comparer
          ->compare(std::as_bytes(std::span(expected)), {{0, kCount}}, DType::I8, answer, {}, {})
          .beyond;
    };
    EXPECT_EQ(beyond(), 0U);
    expected[at] = 4;
    EXPECT_EQ(beyond(), 1U);
  }
}

} // namespace
} // namespace winnow::evaluators::gpu
