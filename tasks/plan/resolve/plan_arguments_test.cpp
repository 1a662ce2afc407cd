#include "tasks/plan/plan_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A launch whose arguments do not match the parameters.
struct ArgumentMistake {
  const char* args;
  const char* parameters;
  const char* message;
};

class BadArguments : public testing::TestWithParam<ArgumentMistake> {};

TEST_P(BadArguments, AreExplained) {
  EXPECT_THAT(resolve_args(GetParam().args, GetParam().parameters).error(),
              HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, BadArguments,
    testing::Values(
        ArgumentMistake{R"js("x", "y")js", "p4fc:x p4f:y i4:n",
                        "k.cu:1:25: kernel 'k' has 3 parameters and 2 args: the first mismatch is "
                        "parameter 3 'n' (int); "
                        "the parameters are (const float* x, float* y, int n), the args (x, y); "
                        "expected one argument for each parameter"},
        ArgumentMistake{R"js("x", "y", "rows")js", "o16:a i4:n",
                        "the first mismatch is parameter 1 'a' (16-byte struct); the parameters "
                        "are (16-byte struct a, int n), the args (x, y, rows); expected no structs "
                        "by value: pass their members as parameters"},
        ArgumentMistake{R"js("x", "rows", "y")js", "p4fc:x p4f:y",
                        "kernel 'k' has 2 parameters and 3 args: the first mismatch is parameter 2 "
                        "'y' (float*)"},
        ArgumentMistake{R"js("x", "y", "rows")js", "p4fc:x p4f:y", "argument 3 has no parameter"},
        ArgumentMistake{R"js("x", "rows")js", "p4fc:x p4f:y",
                        "k.cu:1:80: parameter 2 'y' of kernel 'k' is float*, but its argument is a "
                        "number (rows); the parameters are "
                        "(const float* x, float* y), the args (x, rows); expected a tensor, "
                        "scratch buffer or null"},
        ArgumentMistake{R"js("x", "y", "x")js", "p4fc:x p4f:y i4:n",
                        "parameter 3 'n' of kernel 'k' is int, but its argument is a pointer (x)"},
        ArgumentMistake{
            R"js("x", "y", null)js", "p4fc:x p4f:y f4:s",
            "parameter 3 's' of kernel 'k' is float, but its argument is a pointer (null)"},
        ArgumentMistake{R"js("x", "y", "eps")js", "p4fc:x p4f:y i4:n",
                        "is int, but its argument is a float (eps)"},
        ArgumentMistake{R"js("x", "y", 0.5)js", "p4fc:x p4f:y u8:n",
                        "is unsigned long long, but its argument is a float (float 0.5)"},
        ArgumentMistake{R"js("x", {"float": "eps"})js", "p4fc:x p4f:y",
                        "is float*, but its argument is a float (float eps)"},
        ArgumentMistake{R"js("x", "y", 3)js", "p4fc:x p4f:y o16:v",
                        "is 16-byte struct, but its argument is 3; the parameters are"},
        ArgumentMistake{R"js("x", "y", "rows * cols * 1000000")js", "p4fc:x p4f:y i4:n",
                        "args[2] = rows * cols * 1000000 = 4000000000 for shape search/0 (rows=4, "
                        "cols=1000); it does not fit parameter 3 'n' of "
                        "kernel 'k' (int); expected -2147483648 to 2147483647: use long long, for "
                        "the parameter and for products of indices above 2^31"},
        ArgumentMistake{
            R"js("x", "y", -1)js", "p4fc:x p4f:y u4:n",
            "does not fit parameter 3 'n' of kernel 'k' (unsigned int); expected 0 to 4294967295"},
        ArgumentMistake{R"js("x", "y", 2)js", "p4fc:x p4f:y b1:n", "(bool); expected 0 to 1"},
        ArgumentMistake{R"js("x", "y", 128)js", "p4fc:x p4f:y i1:n",
                        "(signed char); expected -128 to 127"}));

TEST(PlanResolve, WideIntegersFitWideParameters) {
  const Outcome outcome =
      resolve_args(R"js("x", "y", "rows * cols * 1000000", "-rows")js", "p4fc:x p4f:y u4:n i8:m");
  ASSERT_THAT(outcome.errors, IsEmpty());
  EXPECT_EQ(outcome.launch().arguments[2].integer, 4000000000);
  EXPECT_EQ(outcome.launch().arguments[3].integer, -4);
}

TEST(PlanResolve, WarnsOfInputsThatAreNotConst) {
  EXPECT_THAT(
      resolve_args(R"js("x", "y")js", "p4f:x p4f:y").warnings,
      ElementsAre("k.cu:1:75: input 'x' is bound to parameter 1 'x' of kernel 'k', which is not a "
                  "pointer to const; expected const float*: inputs must not change"));
  EXPECT_THAT(resolve_args(R"js("x", "y")js", "p4fc:x p4f:y").warnings, IsEmpty());
  EXPECT_THAT(resolve_args(R"js("x", "y")js", "p16c:x p16:y").warnings, IsEmpty()); // float4*
}

TEST(PlanResolve, WarnsOfElementsOfAnotherSize) {
  EXPECT_THAT(
      resolve_args(R"js("x", "y")js", "p4fc:x p2f:y").warnings,
      ElementsAre(HasSubstr(
          "'y' has 4-byte elements (f32), but parameter 2 'y' of kernel 'k' is 2-byte float*; "
          "expected float*")));
}

TEST(PlanResolve, WarningsInLoopsComeOnce) {
  const Outcome outcome = resolve(
      R"js({"launches": [{"repeat": 50, "do": [{"kernel": "k", "grid": 1, "block": 1, "args": ["x", "y"]}]}]})js",
      with_parameters("p4f:x p4f:y"));
  EXPECT_EQ(outcome.plan->steps.size(), 50U);
  EXPECT_EQ(outcome.warnings.size(), 1U);
}

} // namespace
} // namespace winnow::tasks
