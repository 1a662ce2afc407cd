// Tests half, bfloat16 and fp8 against their definitions, for every bit pattern and every boundary
// between two neighbours.
#include "evaluators/device/headers/sample_build.h"

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

struct Format {
  std::string name;
  int exponent_bits;
  int digits;
  bool has_infinity; // false: the top exponent holds numbers, and its last code is NaN
};

const Format kHalf{"half", 5, 10, true};
const Format kBfloat16{"bfloat16", 8, 7, true};
const Format kE4m3{"e4m3", 4, 3, false};
const Format kE5m2{"e5m2", 5, 2, true};

int bias(const Format& f) { return (1 << (f.exponent_bits - 1)) - 1; }
unsigned sign_bit(const Format& f) { return 1U << (f.exponent_bits + f.digits); }
unsigned largest_finite(const Format& f) {
  return f.has_infinity ? (((1U << f.exponent_bits) - 1U) << f.digits) - 1U : sign_bit(f) - 2U;
}

/// The value of a code, by the definition of the format.
double value_of(const Format& f, unsigned code) {
  const unsigned magnitude = code & (sign_bit(f) - 1U);
  const double sign = (code & sign_bit(f)) != 0 ? -1.0 : 1.0;
  if (magnitude > largest_finite(f)) {
    return f.has_infinity && magnitude == largest_finite(f) + 1U
               ? sign * std::numeric_limits<double>::infinity()
               : std::numeric_limits<double>::quiet_NaN();
  }
  const int exponent = static_cast<int>(magnitude >> f.digits);
  const int fraction = static_cast<int>(magnitude & ((1U << f.digits) - 1U));
  return exponent == 0
             ? sign * std::ldexp(fraction, 1 - bias(f) - f.digits)
             : sign * std::ldexp(fraction + (1 << f.digits), exponent - bias(f) - f.digits);
}

using ToFloat = float(unsigned short);
using FromFloat = unsigned short(float);
using FromDouble = unsigned short(double);

/// Parameters: compiler and flags. Without F16C the conversions are done in software.
class SmallFloats : public testing::TestWithParam<std::tuple<const char*, const char*>> {
protected:
  void SetUp() override {
    const auto& [compiler, flags] = GetParam();
    if (!has_program(compiler)) {
      GTEST_SKIP() << compiler << " is not installed";
    }
    if (std::string(flags).find("f16c") != std::string::npos && !__builtin_cpu_supports("avx2")) {
      GTEST_SKIP() << "this CPU has no F16C";
    }
    build_ = &sample_build(compiler, flags);
    build_->load("small_floats.cu");
  }
  template <class F> F* function(const std::string& name) const {
    return build_->function<F>(name);
  }

  void half_converts_exactly() const;
  void bfloat16_converts_exactly() const;
  void fp8_converts_exactly_and_saturates() const;
  void directed_rounding_brackets_the_value() const;
  void doubles_are_rounded_once() const;

  SampleBuild* build_ = nullptr;
};

void expect_every_code(const Format& f, ToFloat* to_float, FromFloat* from_float) {
  int wrong = 0;
  for (unsigned code = 0; code < 2 * sign_bit(f) && wrong < 5; ++code) {
    const double expected = value_of(f, code);
    const float seen = to_float(static_cast<unsigned short>(code));
    if (std::isnan(expected)) {
      wrong += !std::isnan(seen);
      wrong += !std::isnan(value_of(f, from_float(seen)));
    } else {
      wrong +=
          static_cast<double>(seen) != expected || std::signbit(seen) != std::signbit(expected);
      wrong += std::isfinite(expected) && from_float(seen) != code;
    }
    EXPECT_EQ(wrong, 0) << f.name << " code " << code << " is " << seen << ", not " << expected;
  }
}

/// Tests the rounding of every midpoint between neighbours, and of the floats next to it.
void expect_every_boundary(const Format& f, FromFloat* from_float) {
  for (unsigned low = 0; low < largest_finite(f); ++low) {
    const unsigned high = low + 1;
    const auto middle = static_cast<float>((value_of(f, low) + value_of(f, high)) / 2);
    const float above = std::nextafter(middle, std::numeric_limits<float>::infinity());
    const float below = std::nextafter(middle, 0.0F);
    ASSERT_EQ(from_float(middle), low % 2 == 0 ? low : high) << f.name << " " << middle;
    ASSERT_EQ(from_float(above), high) << f.name << " " << above;
    if (below != middle && below > 0.0F) {
      ASSERT_EQ(from_float(below), low) << f.name << " " << below;
    }
    ASSERT_EQ(from_float(-above), high | sign_bit(f)) << f.name << " " << -above;
  }
}

/// One test for all conversions, because every test builds the sample again.
TEST_P(SmallFloats, ConversionsAreExact) {
  half_converts_exactly();
  bfloat16_converts_exactly();
  fp8_converts_exactly_and_saturates();
  directed_rounding_brackets_the_value();
  doubles_are_rounded_once();
}

void SmallFloats::half_converts_exactly() const {
  auto* to_float = function<ToFloat>("half_to_float");
  auto* from_float = function<FromFloat>("float_to_half");
  expect_every_code(kHalf, to_float, from_float);
  expect_every_boundary(kHalf, from_float);
  EXPECT_EQ(from_float(65519.996F), 0x7bff);
  EXPECT_EQ(from_float(65520.0F), 0x7c00);
  EXPECT_EQ(from_float(1e30F), 0x7c00);
}

void SmallFloats::bfloat16_converts_exactly() const {
  expect_every_code(kBfloat16, function<ToFloat>("bfloat16_to_float"),
                    function<FromFloat>("float_to_bfloat16"));
  expect_every_boundary(kBfloat16, function<FromFloat>("float_to_bfloat16"));
}

void SmallFloats::fp8_converts_exactly_and_saturates() const {
  expect_every_code(kE4m3, function<ToFloat>("e4m3_to_float"),
                    function<FromFloat>("float_to_e4m3"));
  expect_every_code(kE5m2, function<ToFloat>("e5m2_to_float"),
                    function<FromFloat>("float_to_e5m2"));
  expect_every_boundary(kE4m3, function<FromFloat>("float_to_e4m3"));
  expect_every_boundary(kE5m2, function<FromFloat>("float_to_e5m2"));
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(function<FromFloat>("float_to_e4m3")(1e9F), 0x7e);
  EXPECT_EQ(function<FromFloat>("float_to_e4m3")(-infinity), 0xfe);
  EXPECT_EQ(function<FromFloat>("float_to_e5m2")(infinity), 0x7b);
  EXPECT_EQ(function<FromFloat>("float_to_e4m3_overflowing")(465.0F), 0x7f);
  EXPECT_EQ(function<FromFloat>("float_to_e5m2_overflowing")(61440.0F), 0x7c);
  EXPECT_EQ(function<FromFloat>("float_to_e4m3")(0.0F), 0x00);
  EXPECT_EQ(function<FromFloat>("float_to_e4m3")(-0.0F), 0x80);
}

void SmallFloats::directed_rounding_brackets_the_value() const {
  for (const auto& [f, name] : {std::pair{kHalf, "half"}, std::pair{kBfloat16, "bfloat16"}}) {
    auto* down = function<FromFloat>(std::string("float_to_") + name + "_down");
    auto* up = function<FromFloat>(std::string("float_to_") + name + "_up");
    auto* zero = function<FromFloat>(std::string("float_to_") + name + "_zero");
    for (unsigned low = 0; low < largest_finite(f); low += 7) {
      const auto middle = static_cast<float>((value_of(f, low) + value_of(f, low + 1)) / 2);
      ASSERT_EQ(down(middle), low) << name << " " << middle;
      ASSERT_EQ(up(middle), low + 1) << name << " " << middle;
      ASSERT_EQ(zero(middle), low) << name << " " << middle;
      ASSERT_EQ(down(-middle), (low + 1) | sign_bit(f)) << name << " " << -middle;
      ASSERT_EQ(up(-middle), low | sign_bit(f)) << name << " " << -middle;
      ASSERT_EQ(zero(-middle), low | sign_bit(f)) << name << " " << -middle;
    }
  }
}

/// A double just above a midpoint must round up. Rounded to float first, it would become the
/// midpoint.
void SmallFloats::doubles_are_rounded_once() const {
  const double half = 1.0 + std::ldexp(1.0, -11);
  EXPECT_EQ(function<FromDouble>("double_to_half")(half), 0x3c00);
  EXPECT_EQ(function<FromDouble>("double_to_half")(half + std::ldexp(1.0, -40)), 0x3c01);
  const double bfloat16 = 1.0 + std::ldexp(1.0, -8);
  EXPECT_EQ(function<FromDouble>("double_to_bfloat16")(bfloat16), 0x3f80);
  EXPECT_EQ(function<FromDouble>("double_to_bfloat16")(bfloat16 + std::ldexp(1.0, -40)), 0x3f81);
}

TEST_P(SmallFloats, HalfArithmeticRoundsOnce) {
  auto* arithmetic =
      function<unsigned short(int, unsigned short, unsigned short)>("half_arithmetic");
  auto* fma = function<unsigned short(unsigned short, unsigned short, unsigned short)>("half_fma");
  auto* nearest = function<FromDouble>("double_to_half");
  std::mt19937 random(7);
  std::uniform_int_distribution<unsigned> code(0, 0xffff);
  for (int i = 0; i < 200000; ++i) {
    const auto a = static_cast<unsigned short>(code(random));
    const auto b = static_cast<unsigned short>(code(random));
    const auto c = static_cast<unsigned short>(code(random));
    const double x = value_of(kHalf, a);
    const double y = value_of(kHalf, b);
    const double z = value_of(kHalf, c);
    const auto same = [](unsigned short seen, unsigned short expected) {
      return seen == expected ||
             (std::isnan(value_of(kHalf, seen)) && std::isnan(value_of(kHalf, expected)));
    };
    ASSERT_TRUE(same(arithmetic('+', a, b), nearest(x + y))) << x << " + " << y;
    ASSERT_TRUE(same(arithmetic('-', a, b), nearest(x - y))) << x << " - " << y;
    ASSERT_TRUE(same(arithmetic('*', a, b), nearest(x * y))) << x << " * " << y;
    ASSERT_TRUE(same(arithmetic('/', a, b), nearest(x / y))) << x << " / " << y;
    ASSERT_TRUE(same(fma(a, b, c), nearest(std::fma(x, y, z)))) << x << " * " << y << " + " << z;
  }
}

TEST_P(SmallFloats, ComparisonsKnowNanAndPairsAgree) {
  auto* compare = function<int(unsigned short, unsigned short)>("half_compare");
  EXPECT_EQ(compare(0x3c00, 0x4000), 0b001011); // 1 < 2
  EXPECT_EQ(compare(0x3c00, 0x3c00), 0b000110);
  EXPECT_EQ(compare(0x0000, 0x8000), 0b000110); // 0 == -0
  EXPECT_EQ(compare(0x7e00, 0x3c00), 0b111000); // NaN: only "not equal" and unordered tests hold
  EXPECT_EQ(function<int()>("pairs_agree")(), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Compilers, SmallFloats,
    testing::Combine(testing::Values("clang++", "g++"), testing::Values("-mf16c -mfma -mavx2", "")),
    [](const auto& test) {
      std::string name = std::get<0>(test.param) == std::string("g++") ? "Gcc" : "Clang";
      return name + (std::string(std::get<1>(test.param)).empty() ? "Software" : "F16c");
    });

} // namespace
} // namespace winnow::evaluators
