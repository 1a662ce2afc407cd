#include "tasks/input_generator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using Kind = GeneratorSpec::Kind;

std::vector<double> elements(const GeneratorSpec& spec, std::uint64_t count, std::uint64_t seed = 1,
                             std::string_view tensor = "x") {
  std::vector<double> values(count);
  generate_tensor(spec, DType::F64, seed, tensor, values.data(), count);
  return values;
}

TEST(InputGenerator, IsTheSameEverywhere) {
  // Recorded once: a change here invalidates every stored result.
  const GeneratorSpec normal{Kind::Normal, 0, 1};
  const GeneratorSpec uniform{Kind::Uniform, -1, 1};
  EXPECT_EQ(generate_element(normal, 1, "x", 0), 0x1.c2c376384263dp-2);
  EXPECT_EQ(generate_element(normal, 1, "x", (std::uint64_t{1} << 32U) + 5), 0x1.7caf661f78b3ap-2);
  EXPECT_EQ(generate_element(uniform, 42, "weights", 7), 0x1.220cf78143e52p-1);
  EXPECT_EQ(generate_element({Kind::SmallIntegers, -4, 4}, 3, "a", 11), 0x1.8p+1);
  EXPECT_EQ(generate_element({Kind::HeavyTail, 0, 1}, 3, "a", 12), 0x1.7c72296379f87p-1);
}

TEST(InputGenerator, DependsOnSeedNameAndIndex) {
  const GeneratorSpec spec{Kind::Normal, 0, 1};
  const double first = generate_element(spec, 1, "x", 0);
  EXPECT_NE(first, generate_element(spec, 2, "x", 0));
  EXPECT_NE(first, generate_element(spec, 1, "y", 0));
  EXPECT_NE(first, generate_element(spec, 1, "x", 1));
  EXPECT_NE(first, generate_element(spec, 1, "x", std::uint64_t{1} << 32U));
}

TEST(InputGenerator, TensorHoldsTheElements) {
  const GeneratorSpec spec{Kind::Normal, 2, 3};
  std::vector<std::uint16_t> halves(100);
  generate_tensor(spec, DType::F16, 9, "x", halves.data(), halves.size());
  for (std::size_t i = 0; i < halves.size(); ++i) {
    std::uint16_t expected = 0;
    store_element(DType::F16, &expected, generate_element(spec, 9, "x", i));
    EXPECT_EQ(halves[i], expected);
  }
}

TEST(InputGenerator, RoundsToEightBitFloatsAndKeepsThemFinite) {
  const GeneratorSpec spec{Kind::HeavyTail, 0, 100};
  for (const DType dtype : {DType::F8E4M3, DType::F8E5M2}) {
    std::vector<std::uint8_t> codes(1000);
    generate_tensor(spec, dtype, 9, "x", codes.data(), codes.size());
    for (std::size_t i = 0; i < codes.size(); ++i) {
      std::uint8_t expected = 0;
      store_element(dtype, &expected, generate_element(spec, 9, "x", i));
      EXPECT_EQ(codes[i], expected);
      EXPECT_TRUE(std::isfinite(load_element(dtype, &codes[i])));
    }
  }
}

TEST(InputGenerator, DrawsPairsOfNibblesAsBytes) {
  std::vector<std::uint8_t> pairs(20000);
  generate_tensor({Kind::SmallIntegers, 0, 255}, DType::I4X2, 3, "w", pairs.data(), pairs.size());
  std::array<int, 256> seen{};
  for (const std::uint8_t pair : pairs) {
    ++seen[pair];
  }
  EXPECT_GT(*std::min_element(seen.begin(), seen.end()), 0);
}

TEST(InputGenerator, NormalHasItsMoments) {
  double sum = 0;
  double squares = 0;
  double largest = 0;
  const auto values = elements({Kind::Normal, 2, 3}, 200000);
  for (const double value : values) {
    sum += value;
    squares += (value - 2) * (value - 2);
    largest = std::max(largest, std::abs(value - 2));
  }
  const auto count = static_cast<double>(values.size());
  EXPECT_NEAR(sum / count, 2, 0.03);
  EXPECT_NEAR(squares / count, 9, 0.15);
  EXPECT_GT(largest, 9);
  EXPECT_LE(largest, 3 * 4.9);
}

TEST(InputGenerator, UniformStaysInRange) {
  double sum = 0;
  for (const double value : elements({Kind::Uniform, -1, 3}, 100000)) {
    ASSERT_GE(value, -1);
    ASSERT_LT(value, 3);
    sum += value;
  }
  EXPECT_NEAR(sum / 100000, 1, 0.02);
}

TEST(InputGenerator, HeavyTailHasOneInAHundred) {
  int large = 0;
  for (const double value : elements({Kind::HeavyTail, 0, 0.5}, 100000)) {
    large += std::abs(value) > 2.5 ? 1 : 0; // 5 deviations: out of reach for the others
  }
  EXPECT_GT(large, 800); // the few in the tail that are near 0 are not counted
  EXPECT_LT(large, 1100);
}

TEST(InputGenerator, WholeNumbersReachTheirBounds) {
  std::vector<int> seen(9, 0);
  for (const double value : elements({Kind::SmallIntegers, -4, 4}, 9000)) {
    ASSERT_EQ(value, std::floor(value));
    ++seen.at(static_cast<std::size_t>(value + 4));
  }
  for (const int count : seen) {
    EXPECT_GT(count, 800);
  }
  std::vector<int> rows(5, 0);
  for (const double value : elements({Kind::Index, 5, 0}, 5000)) {
    ++rows.at(static_cast<std::size_t>(value));
  }
  EXPECT_GT(rows[4], 800);
  EXPECT_EQ(elements({Kind::Constant, 2.5, 0}, 2), (std::vector<double>{2.5, 2.5}));
}

} // namespace
} // namespace winnow::tasks
