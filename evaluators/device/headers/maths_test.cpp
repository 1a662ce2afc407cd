#include "evaluators/device/headers/sample_build.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

/// The flags with which candidates are compiled: the compiler may fuse multiplications and
/// additions.
std::string fused_flags() {
  return __builtin_cpu_supports("fma") ? "-mfma -ffp-contract=fast" : "";
}

class Maths : public testing::TestWithParam<const char*> {
protected:
  void SetUp() override {
    if (!has_program(GetParam())) {
      GTEST_SKIP() << GetParam() << " is not installed";
    }
    build_ = &sample_build(GetParam(), fused_flags());
    build_->load("maths.cu");
  }
  template <class F> F* function(const std::string& name) const {
    return build_->function<F>(name);
  }
  /// Compares both overloads of a one-argument function with the host's, in units of rounding.
  void expect_like(const std::string& name, double (*host)(double)) const {
    auto* single = function<float(float)>(name + "_float");
    auto* full = function<double(double)>(name + "_double");
    for (const double x : {0.015625, 0.25, 0.7, 0.984375, 1.0, 1.75, 2.5, 9.3}) {
      const bool outside = name == "asin" && x > 1.0;
      const double arguments[] = {x, -x};
      for (const double v : arguments) {
        const double expected = host(v);
        if (outside || !std::isfinite(expected)) {
          continue;
        }
        EXPECT_NEAR(full(v), expected, 1e-14 * std::abs(expected) + 1e-15) << name << " " << v;
        const double rounded = host(double(float(v)));
        EXPECT_NEAR(single(float(v)), rounded, 4e-7 * std::abs(rounded) + 1e-7) << name << " " << v;
      }
    }
  }

  SampleBuild* build_ = nullptr;
};

TEST_P(Maths, FunctionsAgreeWithTheHost) {
  const std::pair<const char*, double (*)(double)> functions[] = {
      {"exp", std::exp},       {"exp2", std::exp2},    {"expm1", std::expm1}, {"log", std::log},
      {"log2", std::log2},     {"log10", std::log10},  {"log1p", std::log1p}, {"sqrt", std::sqrt},
      {"cbrt", std::cbrt},     {"sin", std::sin},      {"cos", std::cos},     {"tan", std::tan},
      {"tanh", std::tanh},     {"erf", std::erf},      {"erfc", std::erfc},   {"floor", std::floor},
      {"ceil", std::ceil},     {"rint", std::rint},    {"round", std::round}, {"trunc", std::trunc},
      {"fabs", std::fabs},     {"asin", std::asin},    {"atan", std::atan},   {"sinh", std::sinh},
      {"lgamma", std::lgamma}, {"tgamma", std::tgamma}};
  for (const auto& [name, host] : functions) {
    expect_like(name, host);
  }
  expect_like("exp10", [](double x) { return std::pow(10.0, x); });
  expect_like("rsqrt", [](double x) { return 1.0 / std::sqrt(x); });
  expect_like("normcdf", [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); });
  EXPECT_FLOAT_EQ(function<float(float)>("expf_fast")(1.5F), std::exp(1.5F));
}

TEST_P(Maths, HalfTurnsAreExact) {
  auto* sinpi = function<double(double)>("sinpi_double");
  auto* cospi = function<double(double)>("cospi_double");
  EXPECT_EQ(sinpi(3.0), 0.0);
  EXPECT_EQ(sinpi(0.5), 1.0);
  EXPECT_EQ(sinpi(1.5), -1.0);
  EXPECT_EQ(cospi(2.5), 0.0);
  EXPECT_EQ(cospi(7.0), -1.0);
  EXPECT_NEAR(sinpi(0.25), std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(sinpi(-1.25), std::sqrt(0.5), 1e-15);
}

TEST_P(Maths, InversesUndoTheirFunctions) {
  auto* erfinv = function<double(double)>("erfinv_double");
  auto* erfcinv = function<double(double)>("erfcinv_double");
  auto* normcdfinv = function<double(double)>("normcdfinv_double");
  for (const double y : {-0.999999, -0.9, -0.3, 0.0, 1e-8, 0.5, 0.75, 0.99, 0.9999999}) {
    EXPECT_NEAR(std::erf(erfinv(y)), y, 1e-15) << y;
  }
  for (const double y : {1e-300, 1e-30, 1e-5, 0.01, 0.5, 1.0, 1.5}) {
    EXPECT_NEAR(std::erfc(erfcinv(y)) / y, 1.0, 1e-12) << y;
  }
  EXPECT_NEAR(normcdfinv(0.975), 1.959963984540054, 1e-14);
  EXPECT_EQ(erfinv(1.0), std::numeric_limits<double>::infinity());
  auto* erfcx = function<double(double)>("erfcx_double");
  EXPECT_NEAR(erfcx(1.0), 0.42758357615580700, 1e-15);
  EXPECT_NEAR(erfcx(25.0), 0.02254957243264136, 1e-16);
}

TEST_P(Maths, MaximumIgnoresNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  auto* maximum = function<float(float, float)>("fmaxf_of");
  auto* minimum = function<float(float, float)>("fminf_of");
  EXPECT_EQ(maximum(1.0F, nan), 1.0F);
  EXPECT_EQ(maximum(nan, -2.0F), -2.0F);
  EXPECT_TRUE(std::isnan(maximum(nan, nan)));
  EXPECT_EQ(minimum(nan, 3.0F), 3.0F);
  EXPECT_EQ(minimum(-1.0F, 3.0F), -1.0F);
}

TEST_P(Maths, RoundedIntrinsicsAreNotFused) {
  const float a = 1.0F + std::ldexp(1.0F, -12);
  const float rounded = static_cast<float>(static_cast<double>(a) * a);
  EXPECT_NE(std::fma(a, a, -rounded), 0.0F);
  EXPECT_EQ((function<float(float, float, float)>("multiply_then_add")(a, a, -rounded)), 0.0F);
}

TEST_P(Maths, DirectedRoundingGoesTheAskedWay) {
  const float tiny = std::ldexp(1.0F, -30);
  EXPECT_EQ((function<float(float, float)>("add_down")(1.0F, tiny)), 1.0F);
  EXPECT_EQ((function<float(float, float)>("add_up")(1.0F, tiny)), std::nextafter(1.0F, 2.0F));
  EXPECT_EQ((function<float(float, float)>("add_down")(1.0F, -tiny)), std::nextafter(1.0F, 0.0F));
  const float third = function<float(float, float)>("divide_zero")(2.0F, 3.0F);
  EXPECT_LT(double(third), 2.0 / 3.0);
  EXPECT_GT(double(std::nextafter(third, 1.0F)), 2.0 / 3.0);
}

TEST_P(Maths, BitIntrinsicsFollowTheirDefinition) {
  using Two = unsigned(unsigned, unsigned);
  using Three = unsigned(unsigned, unsigned, unsigned);
  auto* clz = function<int(unsigned)>("clz");
  EXPECT_EQ(clz(0), 32);
  EXPECT_EQ(clz(1), 31);
  EXPECT_EQ(clz(0x80000000U), 0);
  EXPECT_EQ(function<int(unsigned long long)>("clzll")(0), 64);
  EXPECT_EQ(function<int(int)>("ffs_of")(0), 0);
  EXPECT_EQ(function<int(int)>("ffs_of")(8), 4);
  EXPECT_EQ(function<unsigned(unsigned)>("brev")(0x12345678U), 0x1e6a2c48U);
  auto* byte_perm = function<Three>("byte_perm");
  EXPECT_EQ(byte_perm(0x33221100U, 0x77665544U, 0x3210U), 0x33221100U);
  EXPECT_EQ(byte_perm(0x33221100U, 0x77665544U, 0x5140U), 0x55114400U);
  EXPECT_EQ(byte_perm(0x000000f1U, 0U, 0x8888U), 0xffffffffU);
  EXPECT_EQ(function<Three>("funnel_l")(0x80000000U, 1U, 1U), 3U);
  EXPECT_EQ(function<Three>("funnel_rc")(0x12345678U, 0x9abcdef0U, 40U), 0x9abcdef0U);
  EXPECT_EQ(function<Two>("umulhi")(0xffffffffU, 0xffffffffU), 0xfffffffeU);
  EXPECT_EQ((function<int(int, int)>("mul24")(-3, 0x7f000005)), -15);
  EXPECT_EQ((function<int(int, int, int)>("dp4a")(0x01ff0203, 0x0102fe04, 10)),
            10 + 1 - 2 - 4 + 12);
  EXPECT_EQ((function<unsigned(int, int, unsigned)>("sad")(-5, 7, 3U)), 15U);
  auto* fns = function<unsigned(unsigned, unsigned, int)>("fns");
  EXPECT_EQ(fns(0b10110U, 0, 1), 1U);
  EXPECT_EQ(fns(0b10110U, 0, 3), 4U);
  EXPECT_EQ(fns(0b10110U, 0, 4), 0xffffffffU);
  EXPECT_EQ(fns(0b10110U, 4, -2), 2U);
  EXPECT_EQ(function<Two>("vadd4")(0xff01ff01U, 0x01010101U), 0x00020002U);
  EXPECT_EQ(function<Two>("vsubss4")(0x80007f05U, 0x01ff8001U), 0x80017f04U);
}

TEST_P(Maths, ConversionsClampLikeAGpu) {
  auto* to_int = function<int(float)>("float_to_int");
  EXPECT_EQ(to_int(-2.9F), -2);
  EXPECT_EQ(to_int(3e9F), std::numeric_limits<int>::max());
  EXPECT_EQ(to_int(-3e9F), std::numeric_limits<int>::min());
  EXPECT_EQ(to_int(std::numeric_limits<float>::quiet_NaN()), 0);
  EXPECT_EQ(function<int(float)>("float_to_int_near")(2.5F), 2);
  EXPECT_EQ(function<int(float)>("float_to_int_near")(-3.5F), -4);
  EXPECT_EQ(function<unsigned(float)>("float_to_unsigned")(-1.0F), 0U);
  EXPECT_EQ(function<unsigned(float)>("float_to_unsigned")(4e9F), 4000000000U);
  EXPECT_EQ(function<long long(float)>("float_to_long")(1e20F),
            std::numeric_limits<long long>::max());
  EXPECT_EQ(function<int(float)>("bits_of")(1.0F), 0x3f800000);
  EXPECT_EQ(function<float(int)>("of_bits")(0x40490fdb), 3.14159274F);
}

/// The known answer of Philox4x32-10 for a zero counter and key, then one step of the counter.
TEST_P(Maths, PhiloxMatchesItsKnownAnswers) {
  build_->load("philox.cu");
  auto* philox =
      function<void(unsigned long long, unsigned long long, unsigned long long, unsigned*, int)>(
          "philox");
  unsigned numbers[12];
  philox(0, 0, 0, numbers, 12);
  EXPECT_EQ(numbers[0], 0x6627e8d5U);
  EXPECT_EQ(numbers[1], 0xe169c58dU);
  EXPECT_EQ(numbers[2], 0xbc57ac4cU);
  EXPECT_EQ(numbers[3], 0x9b00dbd8U);
  unsigned skipped[5];
  philox(0, 0, 7, skipped, 5);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(skipped[i], numbers[i + 7]) << i;
  }
  unsigned other[1];
  philox(0, 1, 0, other, 1);
  EXPECT_NE(other[0], numbers[0]);

  float normal[4000];
  function<void(unsigned long long, float*, int)>("philox_normal")(42, normal, 4000);
  double sum = 0;
  double squares = 0;
  for (const float v : normal) {
    sum += double(v);
    squares += double(v) * double(v);
  }
  EXPECT_NEAR(sum / 4000, 0.0, 0.06);
  EXPECT_NEAR(squares / 4000, 1.0, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Compilers, Maths, testing::Values("clang++", "g++"), [](const auto& test) {
  return test.param == std::string("g++") ? "Gcc" : "Clang";
});

} // namespace
} // namespace winnow::evaluators
