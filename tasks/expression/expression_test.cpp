#include "tasks/expression/expression.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

Scope sample_scope() {
  Scope scope;
  scope.set("n", std::int64_t{1000});
  scope.set("cols", std::int64_t{7});
  scope.set("zero", std::int64_t{0});
  scope.set("negative", std::int64_t{-7});
  scope.set("max", kMax);
  scope.set("eps", 0.5);
  scope.set("sizeof(x)", std::int64_t{2});
  return scope;
}

struct IntegerCase {
  const char* text;
  std::int64_t value;
};

class IntegerExpression : public testing::TestWithParam<IntegerCase> {};

TEST_P(IntegerExpression, HasItsValue) {
  EXPECT_EQ(Expression::parse(GetParam().text).evaluate(sample_scope()), GetParam().value)
      << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Values, IntegerExpression,
    testing::Values(
        IntegerCase{"1 + 2 * 3", 7}, IntegerCase{"(1 + 2) * 3", 9}, IntegerCase{"10 - 3 - 2", 5},
        IntegerCase{"0x80 + 1", 129}, IntegerCase{"-2 - -3", 1}, IntegerCase{"+5", 5},
        IntegerCase{"!0 + !7", 1}, IntegerCase{"true + true + false", 2}, IntegerCase{"7 / 2", 3},
        IntegerCase{"negative / 2", -4}, IntegerCase{"negative % 3", 2}, IntegerCase{"7 % 3", 1},
        IntegerCase{"1 << 4 + 1", 32}, IntegerCase{"1024 >> 3", 128},
        IntegerCase{"negative >> 1", -4}, IntegerCase{"-1 << 4", -16},
        IntegerCase{"3 < 4 && 4 <= 4", 1}, IntegerCase{"3 > 4 || 4 >= 5", 0},
        IntegerCase{"3 == 3 != 0", 1}, IntegerCase{"1 < 2 == 1", 1},
        IntegerCase{"n % 256 == 0 ? 1 : 2", 2}, IntegerCase{"0 ? 1 : 1 ? 2 : 3", 2},
        IntegerCase{"min(3, n, 2)", 2}, IntegerCase{"max(3, n, 2)", 1000},
        IntegerCase{"abs(negative)", 7}, IntegerCase{"ceil_div(n, 256)", 4},
        IntegerCase{"ceil_div(negative, 2)", -3}, IntegerCase{"align_up(n, 256)", 1024},
        IntegerCase{"next_pow2(0)", 1}, IntegerCase{"next_pow2(1)", 1},
        IntegerCase{"next_pow2(n)", 1024}, IntegerCase{"next_pow2(1024)", 1024},
        IntegerCase{"log2(1)", 0}, IntegerCase{"log2(n)", 9}, IntegerCase{"log2_ceil(n)", 10},
        IntegerCase{"log2_ceil(1)", 0}, IntegerCase{"log2_ceil(1024)", 10},
        IntegerCase{"sizeof(f32)", 4}, IntegerCase{"sizeof(float)", 4}, IntegerCase{"sizeof(x)", 2},
        IntegerCase{"sizeof(double) * cols", 56}, IntegerCase{"9223372036854775807", kMax},
        IntegerCase{"-9223372036854775807 - 1", std::numeric_limits<std::int64_t>::min()},
        IntegerCase{" \t n ", 1000}, IntegerCase{"zero && n / zero", 0},
        IntegerCase{"zero == 0 || n / zero", 1}, IntegerCase{"zero ? n / zero : 5", 5}));

struct FailureCase {
  const char* text;
  int column;
  const char* part_of_message;
};

class BadExpression : public testing::TestWithParam<FailureCase> {};

TEST_P(BadExpression, SaysWhatIsWrongAndWhere) {
  try {
    const Expression expression = Expression::parse(GetParam().text);
    const std::int64_t value = expression.evaluate(sample_scope());
    FAIL() << GetParam().text << " has the value " << value;
  } catch (const ExpressionError& error) {
    EXPECT_EQ(error.column(), GetParam().column) << error.what();
    const std::string message = std::string(error.what()) + "; " + error.expected();
    EXPECT_NE(message.find(GetParam().part_of_message), std::string::npos) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Messages, BadExpression,
    testing::Values(
        FailureCase{"", 1, "empty"}, FailureCase{"  ", 1, "empty"},
        FailureCase{"1 +", 4, "too early"}, FailureCase{"(1", 3, "')'"},
        FailureCase{"1 2", 3, "unexpected '2'"}, FailureCase{"n & 1", 3, "no bit operations"},
        FailureCase{"n ^ 2", 3, "no bit operations"}, FailureCase{"\xC3\xA9", 1, "byte 0xc3"},
        FailureCase{"1 < n < 3", 7, "do not chain"}, FailureCase{"n ? 1", 6, "':' of '?:'"},
        FailureCase{"ceil_dvi(n, 2)", 1, "did you mean 'ceil_div'"},
        FailureCase{"ceil_div(n)", 1, "has 1 arguments; 2"},
        FailureCase{"min(n)", 1, "has 1 arguments"}, FailureCase{"abs(1, 2)", 1, "has 2 arguments"},
        FailureCase{"007", 1, "not a number"}, FailureCase{"12ab", 1, "not a number"},
        FailureCase{"0x", 1, "not a number"}, FailureCase{"9223372036854775808", 1, "not a number"},
        FailureCase{"colz", 1, "did you mean 'cols'"},
        FailureCase{"1 + 0.5", 5, "a float in an integer expression"},
        FailureCase{"n * eps", 5, "'eps' is a float"}, FailureCase{"sqrt(n)", 1, "gives a float"},
        FailureCase{"n / zero", 3, "division by zero: 1000 / 0"},
        FailureCase{"n % negative", 3, "division by a negative number: 1000 % -7"},
        FailureCase{"ceil_div(n, zero)", 1, "division by zero"},
        FailureCase{"max + 1", 5, "9223372036854775807 + 1"},
        FailureCase{"max * 2", 5, "does not fit"}, FailureCase{"-max - 2", 6, "does not fit"},
        FailureCase{"abs(-max - 1)", 1, "does not fit"},
        FailureCase{"align_up(max, 2)", 1, "does not fit"},
        FailureCase{"next_pow2(max)", 1, "does not fit"},
        FailureCase{"1 << 63", 3, "shift distance"}, FailureCase{"1 >> -1", 3, "shift distance"},
        FailureCase{"n << 62", 3, "does not fit"}, FailureCase{"log2(zero)", 1, "below 1"},
        FailureCase{"sizeof(nothing)", 1, "unknown type"}, FailureCase{"sizeof(1)", 8, "dtype"}));

TEST(Expression, RefusesDeepNesting) {
  const std::string open(1000, '(');
  EXPECT_THROW(Expression::parse(open + "1" + std::string(1000, ')')), ExpressionError);
  EXPECT_THROW(Expression::parse(std::string(1000, '-') + "1"), ExpressionError);
  std::string conditions;
  for (int i = 0; i < 100; ++i) {
    conditions += "1 ? 1 : ";
  }
  EXPECT_THROW(Expression::parse(conditions + "1"), ExpressionError);
  EXPECT_EQ(Expression::parse(std::string(20, '(') + "1" + std::string(20, ')')).evaluate(Scope()),
            1);
}

TEST(Expression, RefusesLongTexts) {
  std::string text = "1";
  while (text.size() <= 4094) {
    text += "+1";
  }
  EXPECT_EQ(Expression::parse(text).evaluate(Scope()), 2048);
  EXPECT_THROW(Expression::parse(text + "+1"), ExpressionError);
}

struct FloatCase {
  const char* text;
  double value;
};

class FloatExpression : public testing::TestWithParam<FloatCase> {};

TEST_P(FloatExpression, HasItsValue) {
  EXPECT_DOUBLE_EQ(Expression::parse(GetParam().text).evaluate_float(sample_scope()),
                   GetParam().value)
      << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Values, FloatExpression,
    testing::Values(FloatCase{"1 / 4", 0.25}, FloatCase{"eps * 3", 1.5}, FloatCase{"1e-5", 1e-5},
                    FloatCase{"0.5f + .5", 1}, FloatCase{"1/sqrt(4)", 0.5},
                    FloatCase{"rsqrt(16)", 0.25}, FloatCase{"eps == 0 ? 1/sqrt(n) : eps", 0.5},
                    FloatCase{"log2(8)", 3}, FloatCase{"log(e)", 1},
                    FloatCase{"exp(0) + exp2(3)", 9}, FloatCase{"pow(2, 0.5)", std::sqrt(2.0)},
                    FloatCase{"floor(2.5) + ceil(2.5)", 5},
                    FloatCase{"min(eps, 2) + max(eps, 2)", 2.5}, FloatCase{"abs(-eps)", 0.5},
                    FloatCase{"-inf", -std::numeric_limits<double>::infinity()},
                    FloatCase{"2 * pi", 6.283185307179586}, FloatCase{"ceil_div(n, 256) / 8", 0.5},
                    FloatCase{"n % 7 + sizeof(f64)", 14}, FloatCase{"1e+2 - 1", 99},
                    FloatCase{"eps < 1 && !zero", 1}));

TEST(Expression, FloatErrorsCarryValues) {
  const auto message = [](const char* text) {
    try {
      Expression::parse(text).evaluate_float(sample_scope());
    } catch (const ExpressionError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message("eps / zero"), "division by zero: 0.5 / 0");
  EXPECT_EQ(message("sqrt(negative)"), "the result is not a number: of -7");
  EXPECT_EQ(message("log(zero)"), "log() of a number that is not above 0: 0");
  EXPECT_EQ(message("inf - inf"), "the result is not a number: of inf and inf");
  EXPECT_EQ(message("0.5 << 1"), "a float in an integer expression");
}

TEST(Expression, ReasonHoldsNoValues) {
  try {
    Expression::parse("n / zero").evaluate(sample_scope());
    FAIL();
  } catch (const ExpressionError& error) {
    EXPECT_EQ(error.reason(), "division by zero");
  }
}

TEST(Expression, NeedsTheUnknownOnlyWhereItDecides) {
  Scope scope;
  scope.set("known", std::int64_t{3});
  scope.set("later", Unknown());
  for (const char* text : {"later", "later + 1", "known > 0 && later", "later ? 1 : 2"}) {
    EXPECT_THROW(Expression::parse(text).evaluate(scope), UnknownValue) << text;
    EXPECT_THROW(Expression::parse(text).evaluate_float(scope), UnknownValue) << text;
  }
  EXPECT_EQ(Expression::parse("known < 0 && later").evaluate(scope), 0);
  EXPECT_EQ(Expression::parse("known ? known : later").evaluate_float(scope), 3);
}

TEST(Expression, NamesComeInOrderOnce) {
  const Expression expression = Expression::parse("b * (a + b) + min(c, true) + sizeof(d)");
  EXPECT_EQ(expression.names(), (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(expression.column_of("a"), 6);
  EXPECT_EQ(expression.column_of("z"), 0);
}

TEST(Expression, KeepsItsTextAndCanBeCopied) {
  const Expression expression = Expression::parse(" n + 1 ");
  const Expression copy = expression; // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(copy.text(), "n + 1");
  EXPECT_EQ(copy.evaluate(sample_scope()), 1001);
  EXPECT_TRUE(Expression().empty());
  EXPECT_EQ(Expression::constant(-3).evaluate(Scope()), -3);
  EXPECT_EQ(Expression::constant(-3).text(), "-3");
}

TEST(Scope, ChildSeesAndHidesTheParentsNames) {
  Scope parent;
  parent.set("a", std::int64_t{1});
  parent.set("b", std::int64_t{2});
  Scope child(&parent);
  child.set("a", std::int64_t{3});
  child.set("sizeof(x)", std::int64_t{4});
  EXPECT_EQ(std::get<std::int64_t>(*child.find("a")), 3);
  EXPECT_EQ(std::get<std::int64_t>(*child.find("b")), 2);
  EXPECT_EQ(child.find("c"), nullptr);
  EXPECT_EQ(child.names(), (std::vector<std::string>{"a", "b"}));
}

} // namespace
} // namespace winnow::tasks
