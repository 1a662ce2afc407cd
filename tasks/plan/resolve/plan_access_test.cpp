#include "tasks/plan/plan_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A plan with the kept scratch buffer p; every kernel takes (const float*, float*).
std::string with_prepare(const std::string& prepare, const std::string& launches) {
  return R"js({"scratch": {"p": {"dtype": "f32", "count": "rows * cols", "keep": true},
                           "s": {"dtype": "f32", "count": 8}},
              "prepare": [)js" +
         prepare + R"js(], "launches": [)js" + launches + "]}";
}

std::string launch(const std::string& kernel, const std::string& args,
                   const std::string& more = "") {
  return R"js({"kernel": ")js" + kernel + R"js(", "grid": 1, "block": 32, "args": [)js" + args +
         "]" + more + "}";
}

const std::string kPack = launch("k2", R"js("w", "p")js");
const std::string kUse = launch("k", R"js("p", "y")js");

TEST(Prepare, IsAListOfItsOwn) {
  const Outcome outcome = resolve(with_prepare(kPack, kUse));
  ASSERT_THAT(outcome.errors, IsEmpty());
  ASSERT_EQ(outcome.plan->prepare.size(), 1U);
  EXPECT_EQ(std::get<LaunchStep>(outcome.plan->prepare[0]).arguments.at(0).buffer, "w");
  ASSERT_EQ(outcome.plan->steps.size(), 1U);
  EXPECT_EQ(outcome.launch().arguments.at(0).buffer, "p");
  const auto& buffers = outcome.plan->buffers;
  EXPECT_TRUE(buffers.at(buffers.size() - 2).keep);
  EXPECT_FALSE(buffers.back().keep);
}

TEST(Prepare, KernelsAreCompiledToo) {
  std::vector<std::string> errors;
  EXPECT_THAT(names_of(with_prepare(kPack, kUse), {}, errors), ElementsAre("k2", "k"));
  EXPECT_THAT(errors, IsEmpty());
}

TEST(Prepare, MayFillAndCopyAndRepeat) {
  const Outcome outcome = resolve(with_prepare(
      R"js({"fill": "p", "value": 0}, {"repeat": 2, "as": "t", "do": [
            {"copy": "w", "to": "p", "count": "rows", "when": "t"}]})js",
      kUse));
  ASSERT_THAT(outcome.errors, IsEmpty());
  EXPECT_EQ(outcome.plan->prepare.size(), 2U);
}

TEST(Prepare, MayBeLeftOutForAShapeThatDoesNotUseIt) {
  const Outcome outcome =
      resolve(with_prepare(launch("k2", R"js("w", "p")js", R"js(, "when": "rows > 4")js"),
                           launch("k", R"js("p", "y")js", R"js(, "when": "rows > 4")js") + "," +
                               launch("k", R"js("w", "y")js")));
  ASSERT_THAT(outcome.errors, IsEmpty());
  EXPECT_THAT(outcome.plan->prepare, IsEmpty());
}

struct Mistake {
  std::string prepare;
  std::string launches;
  const char* message;
};

class BadPrepare : public testing::TestWithParam<Mistake> {};

TEST_P(BadPrepare, IsExplained) {
  EXPECT_THAT(resolve(with_prepare(GetParam().prepare, GetParam().launches)).error(),
              HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, BadPrepare,
    testing::Values(
        Mistake{launch("k2", R"js("x", "p")js"), kUse,
                "\"prepare\" reads input 'x', which the task does not mark static; expected static "
                "inputs only: w"},
        Mistake{kPack + R"js(,{"copy": "x", "to": "p"})js", kUse, "\"prepare\" reads input 'x'"},
        Mistake{kPack + "," + launch("k2", R"js("w", "y")js"), kUse,
                "\"prepare\" uses output 'y'; expected static inputs and scratch buffers with "
                "\"keep\": true only"},
        Mistake{kPack + R"js(,{"fill": "y", "value": 0})js", kUse, "\"prepare\" uses output 'y'"},
        Mistake{kPack + "," + launch("k2", R"js("w", "s")js"), kUse,
                "\"prepare\" uses scratch 's', which is not kept; expected \"keep\": true"},
        Mistake{kPack, kUse + "," + launch("k", R"js("w", "p")js"),
                "a launch writes the kept scratch 'p'; expected a pointer to const: only "
                "\"prepare\" may write a buffer with \"keep\""},
        Mistake{kPack, kUse + R"js(,{"fill": "p", "value": 0})js",
                "a launch writes the kept scratch 'p'"},
        Mistake{kPack, kUse + R"js(,{"copy": "w", "to": "p"})js",
                "a launch writes the kept scratch 'p'"},
        Mistake{launch("k2", R"js("w", "p")js", R"js(, "when": "rows > 4")js"), kUse,
                "\"prepare\" does not write the kept scratch 'p' for shape search/0"},
        Mistake{R"js({"copy": "p", "to": "p", "count": 0})js", kUse,
                "\"prepare\" does not write the kept scratch 'p'"},
        Mistake{launch("k2", "null, null"), kUse,
                "scratch 'p' is kept, but no launch of \"prepare\" writes it"},
        Mistake{launch("k2", R"js("w", "p")js", R"js(, "when": "cold")js"), kUse,
                "unknown name 'cold'"},
        Mistake{kPack, launch("k", R"js("p", null)js"),
                "output 'y' is not in the args of any launch"}));

TEST(Prepare, WithoutItNothingIsKept) {
  EXPECT_THAT(resolve(R"js({"scratch": {"p": {"dtype": "f32", "count": 1, "keep": true}},
                           "launches": [{"fill": "y", "value": 0}]})js")
                  .error(),
              HasSubstr("k.cu:1:24: scratch 'p' is kept, but no launch of \"prepare\" writes it; "
                        "expected a launch in \"prepare\" that writes the buffer, or no \"keep\""));
}

TEST(Prepare, CountsAmongTheLaunches) {
  Setting setting;
  setting.facts.max_steps = 10;
  const std::string loop = R"js({"repeat": 9, "do": [{"fill": "p", "value": 0}]})js";
  EXPECT_THAT(resolve(with_prepare(loop, kUse + "," + kUse), setting).error(),
              HasSubstr("the plan unrolls to more than 10 launches"));
  EXPECT_THAT(resolve(with_prepare(loop, kUse), setting).errors, IsEmpty());
}

} // namespace
} // namespace winnow::tasks
