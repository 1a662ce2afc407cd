#include "tasks/plan/plan_constants.h"
#include "tasks/plan/plan_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kPlan = R"js({
    "params": {"TILE": [32, 64]},
    "let": {"smem": {"const": "sizeof(Tile<{TILE}>)"}, "double_smem": "2 * smem",
            "blocks": "ceil_div(rows * cols, threads)", "threads": {"const": "size(MMA{ {TILE} })"}},
    "scratch": {"s": {"dtype": "f32", "count": "smem"}},
    "launches": [{"fill": "s", "value": 0, "count": "double_smem / 2"},
                 {"kernel": "k<{TILE}>", "grid": ["blocks"], "block": ["threads"],
                  "shared_bytes": "double_smem", "args": ["x", "y"]}]})js";

Setting tile64() {
  Setting setting;
  setting.choice = {{"TILE", 64}};
  setting.constants = {{"sizeof(Tile<64>)", 1000}, {"size(MMA{ 64 })", 128}};
  return setting;
}

TEST(DeviceConstants, AreListedWithParametersReplaced) {
  const auto file = file_of(kPlan);
  std::vector<Diagnostic> errors;
  EXPECT_THAT(device_constants(*file, {{"TILE", 64}}, errors),
              ElementsAre("sizeof(Tile<64>)", "size(MMA{ 64 })"));
  EXPECT_THAT(errors, IsEmpty());
}

TEST(DeviceConstants, AreFoundInRepeatsAndListedOnce) {
  const auto file = file_of(R"js({"let": {"a": {"const": "A"}}, "launches": [
      {"repeat": 2, "let": {"b": {"const": "B"}, "c": {"const": "A"}}, "do": [
        {"repeat": 2, "let": {"d": {"const": "D{x}"}}, "do": [{"fill": "y", "value": 0}]}]}]})js");
  std::vector<Diagnostic> errors;
  EXPECT_THAT(device_constants(*file, {}, errors), ElementsAre("A", "B", "D{x}"));
}

TEST(DeviceConstants, AreNotManyMore) {
  std::string let;
  for (int i = 0; i < 65; ++i) {
    let += (i == 0 ? "\"c" : ", \"c") + std::to_string(i) + "\": {\"const\": \"" +
           std::to_string(i) + "\"}";
  }
  const auto file =
      file_of("{\"let\": {" + let + "}, \"launches\": [{\"fill\": \"y\", \"value\": 0}]}");
  std::vector<Diagnostic> errors;
  device_constants(*file, {}, errors);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(to_string(errors[0]), HasSubstr("asks for 65 device constants; expected at most 64"));
}

TEST(DeviceConstants, GiveNumbersOnceCompiled) {
  const Outcome outcome = resolve(kPlan, tile64());
  ASSERT_THAT(outcome.errors, IsEmpty());
  EXPECT_EQ(std::get<FillStep>(outcome.plan->steps.at(0)).count, 1000);
  EXPECT_EQ(outcome.launch(1).shared_bytes, 2000);
  EXPECT_THAT(outcome.launch(1).block, ElementsAre(128, 1, 1));
  EXPECT_THAT(outcome.launch(1).grid, ElementsAre(32, 1, 1));
  EXPECT_EQ(outcome.plan->buffers.back().count, 1000);
}

TEST(DeviceConstants, AreCheckedOnceCompiled) {
  Setting setting = tile64();
  setting.constants["size(MMA{ 64 })"] = 2048;
  EXPECT_THAT(resolve(kPlan, setting).error(),
              HasSubstr("block[0] = threads = 2048 for shape search/0 (threads=2048)"));
  setting.constants.erase("sizeof(Tile<64>)");
  EXPECT_THAT(resolve(kPlan, setting).error(),
              HasSubstr("the device constant 'sizeof(Tile<64>)' was not compiled"));
}

TEST(DeviceConstants, LeaveKernelNamesToBeFoundBeforeCompiling) {
  std::vector<std::string> errors;
  EXPECT_THAT(names_of(kPlan, tile64(), errors), ElementsAre("k<64>"));
  EXPECT_THAT(errors, IsEmpty());
}

TEST(DeviceConstants, KeepEveryLaunchThatTheyMightAllow) {
  std::vector<std::string> errors;
  const std::string plan = R"js({"let": {"c": {"const": "C"}}, "launches": [
      {"kernel": "k<1>", "when": "c > 3", "grid": 0, "block": 1, "args": ["x", "y"]},
      {"kernel": "k<2>", "when": "rows > 100 && c > 3", "grid": 1, "block": 1, "args": ["x", "y"]},
      {"repeat": "c", "as": "t", "let": {"u": "t + 1", "v": "rows"}, "do": [
        {"kernel": "k<3, {v}>", "when": "u == 1", "grid": ["u"], "block": 1, "args": ["x", "y"]},
        {"fill": "y", "value": 0, "count": "rows * 100000"}]},
      {"kernel": "k2", "grid": 1, "block": 1, "when": "c <= 3", "args": ["x", "y"]}]})js";
  EXPECT_THAT(names_of(plan, {}, errors), ElementsAre("k<1>", "k<3, 4>", "k2"));
  EXPECT_THAT(errors, IsEmpty());
  Setting setting;
  setting.constants = {{"C", 0}};
  const Outcome outcome = resolve(plan, setting);
  ASSERT_THAT(outcome.errors, IsEmpty());
  EXPECT_EQ(outcome.launch().kernel, "k2");
}

TEST(DeviceConstants, StillLetOtherMistakesBeFoundBeforeCompiling) {
  std::vector<std::string> errors;
  names_of(R"js({"let": {"c": {"const": "C"}}, "launches": [
      {"kernel": "k", "grid": ["rows - 4"], "block": "c", "args": ["x", "y"]},
      {"kernel": "k", "grid": ["rows - 4"], "block": 1, "args": ["x", "y"]}]})js",
           {}, errors);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(errors[0], HasSubstr("grid[0] = rows - 4 = 0"));
}

struct ConstantMistake {
  const char* plan;
  const char* message;
};

class BadConstant : public testing::TestWithParam<ConstantMistake> {};

TEST_P(BadConstant, IsExplainedBeforeCompiling) {
  std::vector<std::string> errors;
  Setting setting;
  setting.choice = {{"T", 8}};
  names_of(GetParam().plan, setting, errors);
  ASSERT_FALSE(errors.empty());
  EXPECT_THAT(errors.front(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, BadConstant,
    testing::Values(
        ConstantMistake{
            R"js({"let": {"c": {"const": "C"}}, "launches": [
                     {"kernel": "k<{c}>", "grid": 1, "block": 1, "args": ["x", "y"]}]})js",
            "'c' in the kernel's name depends on a device constant; expected a value that is "
            "known before compiling"},
        ConstantMistake{R"js({"let": {"c": {"const": "C"}, "d": "c + rows"}, "launches": [
                     {"kernel": "k<{d}>", "grid": 1, "block": 1, "args": ["x", "y"]}]})js",
                        "'d' in the kernel's name depends"},
        ConstantMistake{
            R"js({"let": {"c": {"const": "C"}}, "launches": [{"repeat": "c", "as": "t", "do": [
                     {"kernel": "k<{t}>", "grid": 1, "block": 1, "args": ["x", "y"]}]}]})js",
            "'t' in the kernel's name depends"},
        ConstantMistake{
            R"js({"params": {"T": 8}, "let": {"c": {"const": "C<{T}, {cols}>"}},
                      "launches": [{"fill": "y", "value": 0}]})js",
            "'{cols}' in the device constant of 'c' is not a parameter; expected params only: "
            "device code is compiled once for all shapes"},
        ConstantMistake{R"js({"let": {"n": "rows", "c": {"const": "C<{n}>"}},
                      "launches": [{"fill": "y", "value": 0}]})js",
                        "'{n}' in the device constant of 'c' is not a parameter"}));

} // namespace
} // namespace winnow::tasks
