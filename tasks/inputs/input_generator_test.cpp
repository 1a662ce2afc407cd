#include "tasks/inputs/input_generator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>
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
  // Recorded bits: if they change, every stored result becomes invalid.
  const GeneratorSpec normal{Kind::Normal, 0, 1};
  const GeneratorSpec uniform{Kind::Uniform, -1, 1};
  EXPECT_EQ(generate_element(normal, 1, "x", 0), 0x1.c2c376384263dp-2);
  EXPECT_EQ(generate_element(normal, 1, "x", (std::uint64_t{1} << 32U) + 5), 0x1.7caf661f78b3ap-2);
  EXPECT_EQ(generate_element(uniform, 42, "weights", 7), 0x1.220cf78143e52p-1);
  EXPECT_EQ(generate_element({Kind::SmallIntegers, -4, 4}, 3, "a", 11), 0x1.8p+1);
  EXPECT_EQ(generate_element({Kind::HeavyTail, 100, 1}, 3, "a", 12), 0x1.7c72296379f87p-1);
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

TEST(InputGenerator, TensorsOfAllKindsAndTypesHoldTheElements) {
  constexpr std::uint64_t kCount = 1003; // several blocks and a part of a block
  constexpr std::uint64_t kFirst = 301;
  for (const DType dtype : all_dtypes()) {
    const std::uint64_t size = size_bytes(dtype);
    for (const GeneratorSpec& spec :
         {GeneratorSpec{Kind::Normal, 0.1, 3.3}, GeneratorSpec{Kind::Uniform, -0.7, 1.9},
          GeneratorSpec{Kind::HeavyTail, 100, 30}, GeneratorSpec{Kind::LogUniform, -20, 20},
          GeneratorSpec{Kind::Denormal, 0x1p-14, 0}, GeneratorSpec{Kind::Special, 0.2, 1}}) {
      std::vector<std::byte> tensor(kCount * size), part((kCount - kFirst) * size);
      generate_tensor(spec, dtype, 77, "x", tensor.data(), kCount);
      for (std::uint64_t i = 0; i < kCount; ++i) {
        std::array<std::byte, 8> expected{};
        store_element(dtype, expected.data(), generate_element(spec, 77, "x", i));
        ASSERT_TRUE(std::equal(expected.begin(), expected.begin() + static_cast<long>(size),
                               tensor.begin() + static_cast<long>(i * size)))
            << to_string(dtype) << ", kind " << static_cast<int>(spec.kind) << ", element " << i;
      }
      generate_elements(spec, dtype, 77, hash_name("x"), kFirst, part.data(), kCount - kFirst);
      EXPECT_TRUE(
          std::equal(part.begin(), part.end(), tensor.begin() + static_cast<long>(kFirst * size)));
    }
  }
}

TEST(InputGenerator, RoundsToEightBitFloatsAndKeepsThemFinite) {
  const GeneratorSpec spec{Kind::HeavyTail, 100, 100};
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

TEST(InputGenerator, DrawsPowersOfTwoFromARangeOfExponents) {
  const GeneratorSpec spec{Kind::SmallIntegers, {110, 116}, {120, 254}};
  std::set<int> highest;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<std::uint8_t> scales(2000);
    generate_tensor(spec, DType::F8E8M0, spread_seed(seed), "s", scales.data(), scales.size());
    EXPECT_GE(*std::min_element(scales.begin(), scales.end()), 110);
    highest.insert(*std::max_element(scales.begin(), scales.end()));
  }
  EXPECT_GT(highest.size(), 10U);
  EXPECT_LE(*highest.rbegin(), 254); // 255 would be NaN
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
  for (const double value : elements({Kind::HeavyTail, 100, 0.5}, 100000)) {
    large += std::abs(value) > 2.5 ? 1 : 0; // 5 deviations: impossible for the other elements
  }
  EXPECT_GT(large, 800); // some large elements are near 0 and not counted
  EXPECT_LT(large, 1100);
}

TEST(InputGenerator, HeavyTailIsAsHeavyAsStated) {
  int large = 0;
  for (const double value : elements({Kind::HeavyTail, 1000, 0.5}, 100000)) {
    large += std::abs(value) > 2.5 ? 1 : 0;
  }
  EXPECT_NEAR(large, 100, 40);
  EXPECT_EQ(generate_element({Kind::HeavyTail, 1000, 1}, 3, "a", 12), 0x1.7c72296379f87p-1)
      << "the others are the same for any tail";
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

TEST(InputGenerator, LogUniformFillsEveryOctaveAlike) {
  std::vector<int> octaves(6, 0);
  int negative = 0;
  for (const double value : elements({Kind::LogUniform, -3, 3}, 60000)) {
    ASSERT_GE(std::abs(value), 0.125);
    ASSERT_LT(std::abs(value), 8);
    ++octaves.at(static_cast<std::size_t>(std::ilogb(value) + 3));
    negative += value < 0 ? 1 : 0;
  }
  EXPECT_GT(*std::min_element(octaves.begin(), octaves.end()), 9500);
  EXPECT_NEAR(negative, 30000, 600);
}

TEST(InputGenerator, SparseIsMostlyZero) {
  int filled = 0;
  for (const double value : elements({Kind::Sparse, 0.2, 2}, 50000)) {
    filled += value != 0 ? 1 : 0;
  }
  EXPECT_NEAR(filled, 10000, 400);
}

TEST(InputGenerator, TiesTakeFewValues) {
  const auto values = elements({Kind::Ties, 3, 0.5}, 3000);
  for (const double value : {-0.5, 0.0, 0.5}) {
    EXPECT_GT(std::count(values.begin(), values.end(), value), 850);
  }
  EXPECT_EQ(*std::min_element(values.begin(), values.end()), -0.5);
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), 0.5);
}

TEST(InputGenerator, PermutationsHoldEveryIndexOnce) {
  for (const std::uint64_t length : {1U, 2U, 7U, 64U, 1000U}) {
    const auto values = elements({Kind::Permutation, static_cast<double>(length), 0}, 3 * length);
    bool differ = false;
    for (std::uint64_t group = 0; group < 3; ++group) {
      std::vector<bool> seen(length);
      for (std::uint64_t i = 0; i < length; ++i) {
        const auto value = static_cast<std::uint64_t>(values[group * length + i]);
        ASSERT_LT(value, length);
        ASSERT_FALSE(seen[value]);
        seen[value] = true;
        differ = differ || value != static_cast<std::uint64_t>(values[i]);
      }
    }
    EXPECT_TRUE(differ || length < 7) << length; // short permutations may be equal by chance
  }
}

TEST(InputGenerator, OneHotHasOneInEachGroup) {
  const auto values = elements({Kind::OneHot, 10, 0}, 10000);
  std::vector<int> places(10, 0);
  for (std::size_t group = 0; group < 1000; ++group) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(10 * group);
    ASSERT_EQ(std::count(begin, begin + 10, 1.0), 1);
    ASSERT_EQ(std::count(begin, begin + 10, 0.0), 9);
    ++places.at(static_cast<std::size_t>(std::find(begin, begin + 10, 1.0) - begin));
  }
  EXPECT_GT(*std::min_element(places.begin(), places.end()), 60);
}

struct Csr {
  std::vector<double> pointers, columns;
};

Csr csr_matrix(std::uint64_t rows, std::uint64_t columns, std::uint64_t entries, double skew,
               std::uint64_t seed = 1) {
  const auto count = static_cast<double>(entries);
  const CsrMatrix matrix{rows, columns, hash_name("row_ptr")};
  return {elements({Kind::CsrRows, count, skew, matrix}, rows + 1, seed, "row_ptr"),
          elements({Kind::CsrColumns, count, skew, matrix}, entries, seed, "col")};
}

void expect_valid(const Csr& csr, std::uint64_t columns) {
  EXPECT_EQ(csr.pointers.front(), 0);
  EXPECT_EQ(csr.pointers.back(), static_cast<double>(csr.columns.size()));
  for (std::size_t row = 0; row + 1 < csr.pointers.size(); ++row) {
    ASSERT_LE(csr.pointers[row], csr.pointers[row + 1]) << row;
    double last = -1;
    for (auto p = static_cast<std::size_t>(csr.pointers[row]);
         static_cast<double>(p) < csr.pointers[row + 1]; ++p) {
      ASSERT_GT(csr.columns[p], last) << row;
      last = csr.columns[p];
    }
    ASSERT_LT(last, static_cast<double>(columns)) << row;
  }
}

TEST(InputGenerator, CsrMatricesAreSortedAndInRange) {
  for (const double skew : {0.0, 0.5, 1.0}) {
    for (const std::uint64_t rows : {1U, 2U, 7U, 1000U}) {
      for (const std::uint64_t columns : {1U, 3U, 64U}) {
        for (const std::uint64_t entries :
             {std::uint64_t{1}, rows * columns / 3 + 1, rows * columns}) {
          expect_valid(csr_matrix(rows, columns, entries, skew), columns);
        }
      }
    }
  }
}

TEST(InputGenerator, CsrElementsAreTheSameOneByOne) {
  const CsrMatrix matrix{1000, 64, hash_name("row_ptr")};
  const Csr csr = csr_matrix(1000, 64, 3000, 0.9, 7);
  const GeneratorSpec pointers{Kind::CsrRows, 3000, 0.9, matrix};
  for (std::size_t i = 0; i < csr.pointers.size(); ++i) {
    ASSERT_EQ(csr.pointers[i], generate_element(pointers, 7, "row_ptr", i)) << i;
  }
  const GeneratorSpec columns{Kind::CsrColumns, 3000, 0.9, matrix};
  for (std::size_t i = 0; i < csr.columns.size(); ++i) {
    ASSERT_EQ(csr.columns[i], generate_element(columns, 7, "col", i)) << i;
  }
}

TEST(InputGenerator, TheUpperHalfOfTheSeedDecidesTheRowPointers) {
  const std::uint64_t turn = 5ULL << 32U, other_turn = 6ULL << 32U;
  for (const std::uint64_t rows : {1U, 2U, 7U, 1000U}) {
    const Csr one = csr_matrix(rows, 300, 3 * rows, 0.7, turn + 1);
    const Csr two = csr_matrix(rows, 300, 3 * rows, 0.7, turn + 2);
    EXPECT_EQ(one.pointers, two.pointers) << rows;
    EXPECT_NE(one.columns, two.columns) << rows;
    expect_valid(two, 300);
  }
  EXPECT_NE(csr_matrix(9, 9, 30, 0.5, turn).pointers,
            csr_matrix(9, 9, 30, 0.5, other_turn).pointers);
}

std::vector<double> row_lengths(const Csr& csr) {
  std::vector<double> lengths(csr.pointers.size());
  std::adjacent_difference(csr.pointers.begin(), csr.pointers.end(), lengths.begin());
  lengths.erase(lengths.begin());
  return lengths;
}

double longest_row(const Csr& csr) {
  const std::vector<double> lengths = row_lengths(csr);
  return *std::max_element(lengths.begin(), lengths.end());
}

TEST(InputGenerator, SkewMakesEmptyAndVeryLongRows) {
  const auto empty_rows = [](const Csr& csr) {
    const std::vector<double> lengths = row_lengths(csr);
    return std::count(lengths.begin(), lengths.end(), 0.0);
  };
  const Csr even = csr_matrix(4096, 4096, 32768, 0), skewed = csr_matrix(4096, 4096, 32768, 0.7);
  EXPECT_EQ(empty_rows(even), 0);
  EXPECT_EQ(longest_row(even), 8);
  EXPECT_GT(empty_rows(skewed), 200);
  EXPECT_GT(longest_row(skewed), 80);
}

TEST(InputGenerator, CsrRowsBeyondTheMatrixAreHarmless) {
  EXPECT_EQ(generate_element({Kind::CsrRows, 5, 0.5, {3, 4, 0}}, 1, "x", 1000), 5);
  EXPECT_EQ(generate_element({Kind::CsrColumns, 0, 0.5, {3, 4, 0}}, 1, "x", 1000), 0);
}

TEST(InputGenerator, DenormalsAreSubnormalInTheirType) {
  std::vector<float> values(1000);
  generate_tensor({Kind::Denormal, 0x1p-126, 0}, DType::F32, 1, "x", values.data(), values.size());
  for (const float value : values) {
    EXPECT_TRUE(std::fpclassify(value) == FP_SUBNORMAL || std::abs(value) == 0x1p-126F ||
                value == 0);
  }
  EXPECT_LT(*std::min_element(values.begin(), values.end()), 0);
}

TEST(InputGenerator, SpecialsAreInfiniteOrNan) {
  int nan = 0, infinite = 0;
  for (const double value : elements({Kind::Special, 0.1, 1}, 30000)) {
    nan += std::isnan(value) ? 1 : 0;
    infinite += std::isinf(value) ? 1 : 0;
  }
  EXPECT_NEAR(nan, 1000, 150);
  EXPECT_NEAR(infinite, 2000, 200);
  for (const double value : elements({Kind::Special, 0.5, 0}, 1000)) {
    EXPECT_FALSE(std::isnan(value));
  }
}

TEST(InputGenerator, NanHasOneBitPattern) {
  std::uint32_t bits = 0;
  store_element(DType::F32, &bits, -std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(bits, 0x7fc00000U);
}

const std::vector<GeneratorSpec>& ranged() {
  static const std::vector<GeneratorSpec> all{{Kind::Normal, {-2, 2}, {0.5, 2}, {}, {0.1, 1000}},
                                              {Kind::Uniform, {-3, -1}, {1, 2}},
                                              {Kind::HeavyTail, {10, 90}, {0.1, 2}, {}, {3, 300}},
                                              {Kind::SmallIntegers, {-9, -3}, {2, 70}},
                                              {Kind::Index, 1003, {0, 0.9}},
                                              {Kind::Constant, {3, 70}},
                                              {Kind::LogUniform, {-20, -10}, {3, 20}},
                                              {Kind::Sparse, {0.1, 0.4}, {1, 4}},
                                              {Kind::Ties, {5, 50}, {0.1, 2}, {}, {-3, 3}},
                                              {Kind::CsrRows, 600, {0.1, 0.9}, {20, 50, 7}}};
  return all;
}

std::array<double, 3> numbers(const DrawnGenerator& generator) {
  return {generator.a, generator.b, generator.c};
}

TEST(DrawnGenerator, FollowsFromTheUpperHalfOfTheSeedAlone) {
  for (const GeneratorSpec& spec : ranged()) {
    const auto first = numbers(drawn(spec, spread_seed(1), hash_name("x")));
    EXPECT_EQ(first, numbers(drawn(spec, spread_seed(1) + 77, hash_name("x"))));
    EXPECT_NE(first, numbers(drawn(spec, spread_seed(2), hash_name("x"))));
    if (spec.kind != Kind::CsrRows) { // which draws by the name of its row pointers
      EXPECT_NE(first, numbers(drawn(spec, spread_seed(1), hash_name("y"))));
    }
    if (spec.kind != Kind::Constant && spec.kind != Kind::CsrRows) {
      EXPECT_NE(elements(spec, 100, spread_seed(1)), elements(spec, 100, spread_seed(1) + 77));
    }
  }
}

TEST(DrawnGenerator, HasTheSameBitsOnEveryMachine) {
  const DrawnGenerator normal = drawn(ranged()[0], spread_seed(5), hash_name("x"));
  EXPECT_EQ(numbers(normal), (std::array<double, 3>{-0x1.5efe6ec781df6p+9, 0x1.baf49165fdb89p+0,
                                                    0x1.9571ca139e66p+8}));
  const DrawnGenerator tail = drawn(ranged()[2], spread_seed(5), hash_name("x"));
  EXPECT_EQ(numbers(tail),
            (std::array<double, 3>{0x1.7p+4, 0x1.681a0cad2e2fcp+0, 0x1.7cd865ddb53b8p+7}));
}

TEST(DrawnGenerator, StaysInItsRangeAndReachesBothEnds) {
  for (const NumberRange& range : {NumberRange(-2, 7), NumberRange(0.3, 41), NumberRange(0, 1)}) {
    double least = range.high, most = range.low;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
      const double value = drawn({Kind::Constant, range}, spread_seed(seed), 3).a;
      least = std::min(least, value);
      most = std::max(most, value);
    }
    EXPECT_GE(least, range.low);
    EXPECT_LE(most, range.high);
    EXPECT_LT(least - range.low, 0.01 * (range.high - range.low));
    EXPECT_LT(range.high - most, 0.01 * (range.high - range.low));
  }
}

TEST(DrawnGenerator, DrawsEveryOctaveAlikeAboveZero) {
  int below_one = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    below_one += drawn({Kind::Constant, {0.125, 64}}, spread_seed(seed), 3).a < 1 ? 1 : 0;
  }
  EXPECT_NEAR(below_one, 1000, 100); // three octaves of nine
}

TEST(DrawnGenerator, DrawsWholeNumbersWhereTheKindNeedsThem) {
  std::set<double> seen;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const DrawnGenerator ties = drawn({Kind::Ties, {2, 5}, 1}, spread_seed(seed), 3);
    seen.insert(ties.a);
    const DrawnGenerator whole = drawn({Kind::SmallIntegers, {-3, -1}, {0, 4}}, seed << 32U, 3);
    EXPECT_EQ(whole.a, std::floor(whole.a));
    EXPECT_LE(whole.b, 4);
  }
  EXPECT_EQ(seen, (std::set<double>{2, 3, 4, 5}));
}

TEST(DrawnGenerator, ShiftsTheMeanUpOrDown) {
  int up = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const DrawnGenerator normal = drawn({Kind::Normal, 0, 2, {}, {10, 1000}}, spread_seed(seed), 3);
    EXPECT_GE(std::abs(normal.a), 20);
    EXPECT_LE(std::abs(normal.a), 2000);
    up += normal.a > 0 ? 1 : 0;
  }
  EXPECT_NEAR(up, 200, 50);
}

TEST(InputGenerator, TiesHaveAnOffset) {
  const std::vector<double> values = elements({Kind::Ties, 3, 2, {}, 10}, 100);
  EXPECT_EQ(std::set<double>(values.begin(), values.end()), (std::set<double>{8, 10, 12}));
}

TEST(InputGenerator, TheFactorOfExtremesDiffersFromTheirShare) {
  const std::vector<double> values = elements({Kind::HeavyTail, 100, 1, {}, 1e6}, 20000);
  const auto extremes =
      std::count_if(values.begin(), values.end(), [](double x) { return std::abs(x) > 100; });
  EXPECT_NEAR(static_cast<double>(extremes), 200, 60);
}

/// The share of the most frequent value, and that value.
std::pair<double, double> most_frequent(double skew, std::uint64_t seed) {
  constexpr std::uint64_t kElements = 20000;
  std::map<double, int> counts;
  for (const double value : elements({Kind::Index, 100, skew}, kElements, seed)) {
    EXPECT_TRUE(value >= 0 && value < 100) << value;
    ++counts[value];
  }
  const auto most = std::max_element(counts.begin(), counts.end(), [](auto& one, auto& other) {
    return one.second < other.second;
  });
  return {static_cast<double>(most->second) / kElements, most->first};
}

TEST(InputGenerator, OneValueOfASkewedIndexMayGetNearlyAllElements) {
  EXPECT_LT(most_frequent(0, 1).first, 0.02);
  EXPECT_GT(most_frequent(0.7, 1).first, 0.1);
  EXPECT_GT(most_frequent(0.97, 1).first, 0.8);
  EXPECT_EQ(most_frequent(1, 1).first, 1);
  std::set<double> places;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    places.insert(most_frequent(1, spread_seed(seed)).second);
  }
  EXPECT_GT(places.size(), 10U);
  EXPECT_EQ(most_frequent(1, 7).second, most_frequent(1, 8).second); // the upper half decides
}

} // namespace
} // namespace winnow::tasks
