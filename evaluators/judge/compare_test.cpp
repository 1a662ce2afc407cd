#include "evaluators/judge/compare.h"
#include "evaluators/judge/pattern.h"
#include "evaluators/worker/poison.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using tasks::DType;
using tasks::Precision;
using tasks::Verdict;
using testing::HasSubstr;

constexpr std::uint64_t kPoison = 0x7ff8fff97ff8fffbULL;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A tolerance that is `limit` alone, given as a multiple of epsilon(f64).
ErrorModel plain_model(double limit) {
  const double multiple = limit / tasks::epsilon(Precision::F64);
  return {Precision::F64, multiple, multiple, 0, true};
}

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
  comparison.model = plain_model(1e-3);
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
  EXPECT_NEAR(result.ratios.larger(), 0.5, 0.01);
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
  EXPECT_TRUE(std::isinf(compare_floats({kNan}, {1.0}, {1}).ratios.larger()));
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

// So many elements that several threads share them.
constexpr std::int64_t kManyElements = std::int64_t{1} << 20;

TEST(Compare, CountsTheErrorsOfAllParts) {
  std::vector<float> got(kManyElements, 1.0F);
  const std::vector<double> expected(kManyElements, 1.0);
  got[7] = 2.0F;
  got[kManyElements / 2 + 1] = 4.0F;
  got[kManyElements - 2] = poison_float(kManyElements - 2);
  got[kManyElements - 1] = 3.0F;
  const auto result = compare_floats(got, expected, {kManyElements});
  EXPECT_EQ(result.verdict, Verdict::UnwrittenOutput);
  ASSERT_TRUE(result.mismatch);
  EXPECT_EQ(result.mismatch->wrong, 4);
  EXPECT_EQ(result.mismatch->total, kManyElements);
  EXPECT_EQ(result.mismatch->first_index, 7);
  EXPECT_EQ(result.mismatch->got, 2.0);
  EXPECT_THAT(result.mismatch->pattern, HasSubstr("1 of them never written, first [1048574]"));
}

TEST(Compare, ShowsTheFirstErrorOfALaterPart) {
  std::vector<float> got(kManyElements, 1.0F);
  got[kManyElements - 3] = 2.0F;
  got[kManyElements - 1] = 5.0F;
  const auto result = compare_floats(got, std::vector<double>(kManyElements, 1.0), {kManyElements});
  ASSERT_TRUE(result.mismatch);
  EXPECT_EQ(result.mismatch->wrong, 2);
  EXPECT_EQ(result.mismatch->first_index, kManyElements - 3);
  EXPECT_THAT(result.mismatch->first_position, "[1048573]");
}

TEST(Compare, FindsANanOfTheReferenceInALaterPart) {
  std::vector<double> expected(kManyElements, 1.0);
  expected[kManyElements - 5] = expected[kManyElements - 2] = std::nan("");
  std::vector<float> got(kManyElements, 1.0F);
  got[0] = 2.0F;
  Comparison comparison;
  comparison.tensor = "y";
  comparison.shape = {kManyElements};
  comparison.got = std::as_bytes(std::span(got));
  comparison.expected = expected;
  comparison.model = plain_model(1e-3);
  comparison.model.nan_allowed = false;
  const auto result = compare(comparison);
  EXPECT_EQ(result.verdict, Verdict::Infrastructure);
  EXPECT_THAT(result.detail, HasSubstr("NaN in y[1048571]"));
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

// Tests every floating dtype in the same way: within the limit, beyond it, NaN, and never written.
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
    comparison.model = plain_model(limit);
    return compare(comparison);
  }
  static constexpr std::uint64_t kSalt = 0x5a5aa5a55aa55aa5ULL;
  std::array<std::byte, 8> stored_{};
};

// The output's own rounding may cost half a unit in the last place.
TEST_P(CompareFloats, KeepsTheLimit) {
  const double epsilon = tasks::epsilon(GetParam());
  // An f64 output is not rounded again.
  const double half = GetParam() == DType::F64 ? 0 : epsilon / 2;
  EXPECT_EQ(compare_one(1 + epsilon, 1 + epsilon - half, 1e-30).verdict, Verdict::Correct);
  EXPECT_EQ(compare_one(1 + epsilon, 1 + 0.125 * epsilon, 0.5 * epsilon).verdict, Verdict::Correct);
  EXPECT_NE(compare_one(1 + epsilon, 1, 0.25 * epsilon).verdict, Verdict::Correct);
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

TEST(Compare, ComparesCodesAsBytes) {
  const std::array got{std::byte{0x7f}, std::byte{0xf8}};
  const std::array expected{std::byte{0x7f}, std::byte{0x78}};
  Comparison comparison;
  comparison.tensor = "w";
  comparison.shape = {2};
  comparison.got = got;
  comparison.expected_exact = expected;
  comparison.poison = kPoison;
  for (const DType dtype : {DType::I4X2, DType::F4E2M1X2, DType::F8E8M0}) {
    comparison.dtype = dtype;
    const auto result = compare(comparison);
    EXPECT_EQ(result.verdict, Verdict::Wrong);
    EXPECT_EQ(result.mismatch->got, 0xf8);
    EXPECT_EQ(result.mismatch->expected, 0x78);
  }
}

// Sums of products of random rows and columns, as in a GEMM, and the exact answer.
class CompareSums : public testing::Test {
protected:
  static constexpr std::size_t kLength = 256, kOutputs = 1024;
  using Rounding = std::function<double(double)>;

  CompareSums() : expected_(kOutputs), magnitude_(kOutputs), sums_(kOutputs) {}

  static double rounded(DType dtype, double value) {
    std::array<std::byte, 8> stored{};
    tasks::store_element(dtype, stored.data(), value);
    return tasks::load_element(dtype, stored.data());
  }
  static double to_tf32(double value) {
    auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    bits = (bits + 0xfffU + (bits >> 13U & 1U)) & ~0x1fffU;
    return static_cast<double>(std::bit_cast<float>(bits));
  }
  static double same(double value) { return value; }

  // Rounds the factors with `factor`. Sums each output in order and rounds with `sum` after every
  // step.
  void compute(DType stored, const Rounding& factor, const Rounding& sum) {
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (std::size_t i = 0; i < kOutputs; ++i) {
      expected_[i] = magnitude_[i] = sums_[i] = 0;
      for (std::size_t p = 0; p < kLength; ++p) {
        const double a = rounded(stored, normal(random)), b = rounded(stored, uniform(random));
        expected_[i] += a * b;
        magnitude_[i] += std::fabs(a * b);
        sums_[i] = sum(sums_[i] + factor(a) * factor(b));
      }
    }
  }

  ComparisonResult compare_as(DType output, const ErrorModel& model) const {
    std::vector<std::byte> got(kOutputs * tasks::size_bytes(output));
    for (std::size_t i = 0; i < kOutputs; ++i) {
      tasks::store_element(output, got.data() + i * tasks::size_bytes(output), sums_[i]);
    }
    Comparison comparison;
    comparison.tensor = "c";
    comparison.dtype = output;
    comparison.shape = {kOutputs / 64, 64};
    comparison.got = got;
    comparison.expected = expected_;
    comparison.magnitude = magnitude_;
    comparison.poison = poison_pattern(output, 0);
    comparison.model = model;
    return compare(comparison);
  }

  // The tolerances of gemm_f32 (and gemm_f16) and of gemm_tf32 in task.toml, at k = kLength.
  static ErrorModel f32_model() { return {Precision::F32, 10, 2, 0, false}; }
  static ErrorModel tf32_model() { return {Precision::TF32, 0.75, 0.1375, 0, false}; }

  static double f32(double value) { return static_cast<double>(static_cast<float>(value)); }
  static double f16(double value) { return rounded(DType::F16, value); }
  static double bf16(double value) { return rounded(DType::BF16, value); }

  std::vector<double> expected_, magnitude_, sums_;
};

TEST_F(CompareSums, SequentialSumsInF32AreRight) {
  compute(DType::F32, same, f32);
  const auto result = compare_as(DType::F32, f32_model());
  EXPECT_EQ(result.verdict, Verdict::Correct);
  EXPECT_LT(result.ratios.larger(), 0.5);
  EXPECT_GT(result.ratios.larger(), 0.01);
}

TEST_F(CompareSums, FactorsInTf32AreRightOnlyWhereTheTaskSaysSo) {
  compute(DType::F32, to_tf32, f32);
  EXPECT_EQ(compare_as(DType::F32, tf32_model()).verdict, Verdict::Correct);
  const auto result = compare_as(DType::F32, f32_model());
  EXPECT_EQ(result.verdict, Verdict::LowPrecision);
  ASSERT_TRUE(result.mismatch);
  EXPECT_THAT(
      result.mismatch->pattern,
      HasSubstr(
          "errors are as large as those of tf32 arithmetic (the task asks for f32): rms error 2"));
  EXPECT_THAT(result.mismatch->pattern, HasSubstr("times epsilon(f32) * magnitude, limit 2"));
}

// A tolerance that is too tight rejects f32 results, too. They must not be called tf32.
TEST_F(CompareSums, ErrorsBelowAnEpsilonOfF32AreNotThoseOfTf32) {
  compute(DType::F32, same, f32);
  const auto result = compare_as(DType::F32, {Precision::F32, 0.01, 0.0025, 0, false});
  EXPECT_EQ(result.verdict, Verdict::Wrong);
  ASSERT_TRUE(result.mismatch);
  EXPECT_THAT(result.mismatch->pattern, testing::Not(HasSubstr("arithmetic")));
}

TEST_F(CompareSums, FactorsInBf16AreTooCoarseForTf32) {
  compute(DType::F32, bf16, f32);
  for (const ErrorModel& model : {f32_model(), tf32_model()}) {
    const auto result = compare_as(DType::F32, model);
    EXPECT_EQ(result.verdict, Verdict::LowPrecision);
    ASSERT_TRUE(result.mismatch);
    EXPECT_THAT(result.mismatch->pattern, HasSubstr("as those of bf16 arithmetic"));
  }
}

TEST_F(CompareSums, SumsInF16AreTooCoarseForF16Outputs) {
  compute(DType::F16, same, f32);
  EXPECT_EQ(compare_as(DType::F16, f32_model()).verdict, Verdict::Correct);
  compute(DType::F16, same, f16);
  const auto result = compare_as(DType::F16, f32_model());
  EXPECT_EQ(result.verdict, Verdict::LowPrecision);
  ASSERT_TRUE(result.mismatch);
  EXPECT_THAT(result.mismatch->pattern, HasSubstr("as those of f16 arithmetic"));
}

// No element exceeds its limit, but the rms of bf16 is 0.21.
TEST_F(CompareSums, TheNormAloneCatchesWhatNoElementShows) {
  compute(DType::F32, bf16, f32);
  ErrorModel model = tf32_model();
  model.multiple = 2;
  const auto result = compare_as(DType::F32, model);
  EXPECT_EQ(result.verdict, Verdict::LowPrecision);
  ASSERT_TRUE(result.mismatch);
  EXPECT_EQ(result.mismatch->wrong, 0);
  EXPECT_GE(result.mismatch->first_index, 0);
  EXPECT_NEAR(result.ratios.larger(), 0.21 / 0.1375, 0.15);
  model.norm_multiple = 1;
  EXPECT_EQ(compare_as(DType::F32, model).verdict, Verdict::Correct);
}

TEST_F(CompareSums, AFewWrongElementsAreNoMatterOfPrecision) {
  compute(DType::F32, same, f32);
  sums_[kOutputs - 1] += 1e-3 * magnitude_[kOutputs - 1];
  const auto result = compare_as(DType::F32, f32_model());
  EXPECT_EQ(result.verdict, Verdict::Wrong);
  ASSERT_TRUE(result.mismatch);
  EXPECT_EQ(result.mismatch->pattern, "only element [15, 63]");
}

TEST_F(CompareSums, NothingIsNoMatterOfPrecision) {
  compute(
      DType::F32, [](double) { return 0.0; }, f32);
  EXPECT_EQ(compare_as(DType::F32, f32_model()).verdict, Verdict::Wrong);
  compute(DType::F32, to_tf32, f32);
  sums_[7] = std::nan("");
  EXPECT_EQ(compare_as(DType::F32, f32_model()).verdict, Verdict::Wrong);
}

// Tiny shapes come first. They must not hide a low precision.
TEST(Compare, OneElementShowsAPrecisionOnlyWhenItIsOffByLittle) {
  const auto verdict_of = [](float got) {
    const std::vector<double> expected{1};
    Comparison comparison;
    comparison.tensor = "y";
    comparison.shape = {1};
    comparison.got = std::as_bytes(std::span(&got, 1));
    comparison.expected = expected;
    comparison.poison = kPoison;
    comparison.model = {Precision::F32, 4, 1, 0, false};
    return compare(comparison).verdict;
  };
  EXPECT_EQ(verdict_of(1 + 0x1p-12F), Verdict::LowPrecision);
  EXPECT_EQ(verdict_of(1 + 0x1p-6F), Verdict::Wrong);
}

// The row of a softmax with one large logit. The difference is small, but nothing was rounded to 0.
TEST(Compare, ZerosInBulkAreNoMatterOfPrecision) {
  const std::size_t size = 21;
  std::vector<float> got(size, 0.0F);
  std::vector<double> expected(size, 0.0004);
  got[0] = 1;
  expected[0] = 1 - 20 * 0.0004;
  Comparison comparison;
  comparison.tensor = "y";
  comparison.shape = {static_cast<std::int64_t>(size)};
  comparison.got = std::as_bytes(std::span(got));
  comparison.expected = expected;
  comparison.poison = kPoison;
  comparison.model = {Precision::F32, 4, 1, 0, false};
  EXPECT_EQ(compare(comparison).verdict, Verdict::Wrong);
}

TEST(Compare, NanThatTheTaskDoesNotAllowIsTheReferencesFault) {
  for (const float got : {kNan, 1.0F}) {
    const std::vector<double> expected{1.0, std::nan("")};
    const std::vector<float> outputs{1.0F, got};
    Comparison comparison;
    comparison.tensor = "y";
    comparison.shape = {2};
    comparison.got = std::as_bytes(std::span(outputs));
    comparison.expected = expected;
    comparison.poison = kPoison;
    comparison.model = {Precision::F32, 4, 1, 0, false};
    const auto result = compare(comparison);
    EXPECT_EQ(result.verdict, Verdict::Infrastructure);
    EXPECT_THAT(result.detail, HasSubstr("NaN in y[1]; expected a number there, or `nan = true`"));
  }
}

TEST(Compare, WithoutMagnitudeOnlyTheOutputsRoundingIsAllowed) {
  const std::vector<double> expected{0, 1 + 0x1p-25}, magnitude{0, 0};
  std::vector<float> got{0, 1};
  Comparison comparison;
  comparison.tensor = "y";
  comparison.shape = {2};
  comparison.expected = expected;
  comparison.magnitude = magnitude;
  comparison.poison = kPoison;
  comparison.model = {Precision::F32, 4, 1, 0, false};
  comparison.got = std::as_bytes(std::span(got));
  EXPECT_EQ(compare(comparison).verdict, Verdict::Correct);
  got[0] = 1e-40F;
  EXPECT_EQ(compare(comparison).verdict, Verdict::Wrong);
  comparison.model.absolute = 1e-37;
  EXPECT_EQ(compare(comparison).verdict, Verdict::Correct);
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
            "scattered over columns 0 to 7 of rows 1 to 2");
  EXPECT_EQ(describe_pattern({0, 12, 39}, {4, 10}), "scattered over the whole tensor");
}

} // namespace
} // namespace winnow::evaluators
