#include "evaluators/judge/compare.h"
#include "evaluators/worker/poison.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using tasks::DType;
using tasks::Verdict;

constexpr std::uint64_t kPoison = 0x7ff8fff97ff8fffbULL;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

ComparisonResult compare_floats(const std::vector<float>& got, const std::vector<double>& expected,
                                std::vector<std::int64_t> shape) {
  const std::vector<double> magnitude(expected.size(), 1.0);
  Comparison comparison;
  comparison.tensor = "y";
  comparison.shape = std::move(shape);
  comparison.got = std::as_bytes(std::span(got));
  comparison.expected = expected;
  comparison.magnitude = magnitude;
  comparison.poison = kPoison;
  comparison.relative_limit = 1e-3;
  return compare(comparison);
}

float poison_float(std::size_t index) {
  float value = 0;
  std::memcpy(&value, reinterpret_cast<const char*>(&kPoison) + index % 2 * 4, 4);
  return value;
}

TEST(Compare, AcceptsWithinTheLimitAndReportsTheWorstRatio) {
  const auto result = compare_floats({1.0F, -2.0005F}, {1.0, -2.0}, {2});
  EXPECT_EQ(result.verdict, Verdict::Correct);
  EXPECT_NEAR(result.max_error_ratio, 0.5, 0.01);
}

TEST(Compare, RejectsBeyondTheLimitForNegativeReferencesToo) {
  const auto result = compare_floats({1.0F, -2.1F}, {1.0, -2.0}, {2});
  EXPECT_EQ(result.verdict, Verdict::Wrong);
  ASSERT_TRUE(result.mismatch);
  EXPECT_EQ(result.mismatch->first_index, 1);
  EXPECT_EQ(result.mismatch->wrong, 1);
}

TEST(Compare, NanMatchesOnlyNan) {
  EXPECT_EQ(compare_floats({kNan}, {1.0}, {1}).verdict, Verdict::Wrong);
  EXPECT_EQ(compare_floats({1.0F}, {std::nan("")}, {1}).verdict, Verdict::Wrong);
  EXPECT_EQ(compare_floats({kNan}, {std::nan("")}, {1}).verdict, Verdict::Correct);
  EXPECT_TRUE(std::isinf(compare_floats({kNan}, {1.0}, {1}).max_error_ratio));
}

TEST(Compare, InfinityMatchesOnlyItself) {
  EXPECT_EQ(compare_floats({kInfinity}, {1.0}, {1}).verdict, Verdict::Wrong);
  EXPECT_EQ(compare_floats({-kInfinity}, {kInfinity}, {1}).verdict, Verdict::Wrong);
  EXPECT_EQ(compare_floats({kInfinity}, {kInfinity}, {1}).verdict, Verdict::Correct);
}

TEST(Compare, NamesElementsThatWereNeverWritten) {
  const auto result = compare_floats({1.0F, poison_float(1)}, {1.0, 2.0}, {2});
  EXPECT_EQ(result.verdict, Verdict::UnwrittenOutput);
  EXPECT_EQ(result.mismatch->pattern, "only element [1]; never written");
}

TEST(Compare, ComparesIntegersExactly) {
  const std::vector<std::int32_t> got{1, 2, 3}, expected{1, 2, 4};
  Comparison comparison;
  comparison.tensor = "n";
  comparison.dtype = DType::I32;
  comparison.shape = {3};
  comparison.got = std::as_bytes(std::span(got));
  comparison.expected_exact = std::as_bytes(std::span(expected));
  comparison.poison = kPoison;
  const auto result = compare(comparison);
  EXPECT_EQ(result.verdict, Verdict::Wrong);
  EXPECT_EQ(result.mismatch->first_index, 2);
  comparison.expected_exact = comparison.got;
  EXPECT_EQ(compare(comparison).verdict, Verdict::Correct);
}

// Every floating dtype in one way: within the limit, beyond it, NaN, and never written.
class CompareFloats : public testing::TestWithParam<DType> {
protected:
  ComparisonResult compare_one(double got, double expected, double limit) {
    tasks::store_element(GetParam(), stored_.data(), got);
    return compare_stored(expected, limit);
  }
  ComparisonResult compare_stored(double expected, double limit) {
    Comparison comparison;
    comparison.tensor = "y";
    comparison.dtype = GetParam();
    comparison.shape = {1};
    comparison.got = std::span(stored_).first(tasks::size_bytes(GetParam()));
    comparison.expected = std::span(&expected, 1);
    comparison.poison = poison_pattern(GetParam(), kSalt);
    comparison.relative_limit = limit;
    return compare(comparison);
  }
  static constexpr std::uint64_t kSalt = 0x5a5aa5a55aa55aa5ULL;
  std::array<std::byte, 8> stored_{};
};

TEST_P(CompareFloats, KeepsTheLimit) {
  const double epsilon = tasks::epsilon(GetParam());
  EXPECT_EQ(compare_one(1 + epsilon, 1 + 0.75 * epsilon, 0.5 * epsilon).verdict, Verdict::Correct);
  EXPECT_EQ(compare_one(1 + epsilon, 1, 0.5 * epsilon).verdict, Verdict::Wrong);
  EXPECT_EQ(compare_one(-1, 1, epsilon).verdict, Verdict::Wrong);
  EXPECT_EQ(compare_one(std::nan(""), 1, epsilon).verdict, Verdict::Wrong);
}

TEST_P(CompareFloats, TakesPoisonForUnwritten) {
  const std::uint64_t poison = poison_pattern(GetParam(), kSalt);
  std::memcpy(stored_.data(), &poison, sizeof poison);
  EXPECT_TRUE(std::isnan(tasks::load_element(GetParam(), stored_.data())));
  EXPECT_EQ(compare_stored(1, 1e-3).verdict, Verdict::UnwrittenOutput);
}

std::string dtype_name(const testing::TestParamInfo<DType>& dtype) {
  return std::string(tasks::to_string(dtype.param));
}
INSTANTIATE_TEST_SUITE_P(DTypes, CompareFloats,
                         testing::Values(DType::F64, DType::F32, DType::F16, DType::BF16,
                                         DType::F8E4M3, DType::F8E5M2),
                         dtype_name);

TEST(Compare, ComparesPairsOfNibblesAsBytes) {
  const std::array got{std::byte{0x7f}, std::byte{0xf8}};
  const std::array expected{std::byte{0x7f}, std::byte{0x78}};
  Comparison comparison;
  comparison.tensor = "w";
  comparison.dtype = DType::I4X2;
  comparison.shape = {2};
  comparison.got = got;
  comparison.expected_exact = expected;
  comparison.poison = kPoison;
  const auto result = compare(comparison);
  EXPECT_EQ(result.verdict, Verdict::Wrong);
  EXPECT_EQ(result.mismatch->got, 0xf8);
  EXPECT_EQ(result.mismatch->expected, 0x78);
}

TEST(Pattern, NamesATileEdge) {
  std::vector<std::int64_t> wrong;
  for (std::int64_t row = 0; row < 4; ++row) {
    for (std::int64_t column = 8; column < 10; ++column) {
      wrong.push_back(row * 10 + column);
    }
  }
  EXPECT_EQ(describe_pattern(wrong, {4, 10}), "columns 8 to 9 (the last) of every row");
}

TEST(Pattern, NamesAStride) {
  EXPECT_EQ(describe_pattern({7, 39, 71}, {100}), "every 32 elements from 7");
}

TEST(Pattern, NamesOneElementAndABox) {
  EXPECT_EQ(describe_pattern({15}, {4, 10}), "only element [1, 5]");
  EXPECT_EQ(describe_pattern({10, 12, 27}, {4, 10}),
            "3 elements within columns 0 to 7 of rows 1 to 2");
}

} // namespace
} // namespace winnow::evaluators
