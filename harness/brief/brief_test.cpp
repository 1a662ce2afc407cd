#include "base/json_dump.h"
#include "evaluators/evaluation/profile.h"
#include "harness/brief/brief.h"
#include "harness/brief/result_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using tasks::ShapeSet;
using tasks::Stage;
using tasks::Verdict;
using testing::HasSubstr;
using testing::Not;

tasks::CaseResult timed(ShapeSet set, const std::string& shape) {
  tasks::CaseResult result;
  result.stage = set == ShapeSet::Search ? Stage::Time : Stage::Promotion;
  result.set = set;
  result.shape = shape;
  result.verdict = Verdict::Correct;
  result.median_ns = 123456.789;
  result.speedup = 1.23456789;
  return result;
}

tasks::Evaluation fast_kernel() {
  tasks::Evaluation evaluation;
  evaluation.verdict = Verdict::Correct;
  evaluation.stage = Stage::Done;
  evaluation.speedup = 1.5;
  evaluation.speedup_bounds = {1.4, 1.6};
  evaluation.cases = {timed(ShapeSet::Search, "n=1000"), timed(ShapeSet::Promotion, "n=7919")};
  evaluation.build.kernels = {{"k", 40, 8, 4, 0, 1024}};
  return evaluation;
}

BriefFacts facts() {
  BriefFacts facts{"axpy", "a.cu", std::string(64, 'd'), "baseline.cu"};
  facts.light = {0.8, {{"n=1000", 0.81}}};
  return facts;
}

TEST(Brief, HasTheSpeedAndTheLightOfEachShownShape) {
  const json brief = brief_json(facts(), fast_kernel());
  EXPECT_EQ(brief["verdict"], "correct");
  EXPECT_EQ(brief["progress"], 1);
  EXPECT_EQ(brief["promoted"], true);
  EXPECT_EQ(brief["speedup"], json({{"value", 1.5},
                                    {"low", 1.4},
                                    {"high", 1.6},
                                    {"versus", "baseline.cu"},
                                    {"wide", true}}));
  EXPECT_EQ(brief["speed_of_light"], 0.8);
  ASSERT_EQ(brief["shapes"].size(), 1U);
  EXPECT_EQ(brief["shapes"][0], json({{"shape", "n=1000"},
                                      {"time_ns", 123460.0},
                                      {"speedup", 1.2346},
                                      {"speed_of_light", 0.81}}));
  EXPECT_EQ(brief["kernels"][0]["registers"], 40);
  EXPECT_EQ(brief["kernels"][0]["spill_bytes"], 12);
  EXPECT_EQ(fitted_brief(brief), brief);
}

TEST(Brief, AnIntervalIsWideIfItReachesBeyondTheNoiseOfAMeasurement) {
  tasks::Evaluation evaluation = fast_kernel();
  const auto is_wide = [&](tasks::Bounds bounds) {
    evaluation.speedup_bounds = bounds;
    return brief_json(facts(), evaluation)["speedup"]["wide"].get<bool>();
  };
  EXPECT_FALSE(is_wide({1.46, 1.54}));
  EXPECT_TRUE(is_wide({1.44, 1.51}));
  EXPECT_TRUE(is_wide({1.49, 1.56}));
  EXPECT_FALSE(is_wide({})) << "not known";
}

TEST(Brief, HasTheStepsOfTheSlowestShapeAndWhatWasTried) {
  tasks::Evaluation evaluation = fast_kernel();
  EXPECT_TRUE(brief_json(facts(), evaluation)["steps"].is_null());
  evaluators::ProfiledShape small, large;
  small.shape.shape = "n=10";
  small.steps = {{"scan", 1, 1000}, {"merge", 2, 500}};
  large = small;
  large.shape.shape = "n=1000";
  large.steps[1].ns = 4000.04;
  evaluation.profile = json{small, large}.dump();
  BriefFacts with_tried = facts();
  with_tried.tried = {{{{"BLOCK", 64}}, Verdict::NotJudged, "", {1, 1}},
                      {{{"BLOCK", 128}}, Verdict::NotJudged, "", {2, 4.5}},
                      {{{"BLOCK", 4096}}, Verdict::LaunchError}};
  const json brief = brief_json(with_tried, evaluation);
  EXPECT_EQ(brief["steps"], json::parse(R"({"shape": "n=1000", "times": [
      {"step": "scan", "count": 1, "ns": 1000.0}, {"step": "merge", "count": 2, "ns": 4000.0}]})"));
  EXPECT_EQ(brief["tried"], json::parse(R"([
      {"parameters": "BLOCK=128", "verdict": "timed", "speed": 3.0},
      {"parameters": "BLOCK=64", "verdict": "timed", "speed": 1.0},
      {"parameters": "BLOCK=4096", "verdict": "launch_error", "speed": null}])"));
  large.steps.assign(200, {"a step with a name of some length", 1, 1234.5});
  evaluation.profile = json{large}.dump();
  with_tried.tried.assign(300, with_tried.tried[1]);
  const json fitted = fitted_brief(brief_json(with_tried, evaluation));
  EXPECT_LT(json_line(fitted).size(), kBriefBytes);
  EXPECT_GT(fitted["more"]["steps"], 100);
  EXPECT_GT(fitted["more"]["tried"], 200);
}

TEST(Brief, HasNeitherSizeNorNumberOfAHiddenShape) {
  tasks::Evaluation evaluation = fast_kernel();
  evaluation.verdict = Verdict::WrongUnseen;
  evaluation.stage = Stage::Promotion;
  evaluation.detail = "promotion/0: y[3] = 1";
  evaluation.cases[1].detail = "n=7919 is wrong";
  const std::string text = json_line(brief_json(facts(), evaluation));
  EXPECT_THAT(text, HasSubstr("hidden"));
  EXPECT_THAT(text, Not(HasSubstr("7919")));
  EXPECT_THAT(text, Not(HasSubstr("promotion/0")));
}

TEST(Brief, CountsTheStagesThatAKernelHasPassed) {
  tasks::Evaluation evaluation;
  EXPECT_EQ(progress_of(evaluation, false), 0);
  evaluation.stage = Stage::Compile;
  EXPECT_DOUBLE_EQ(progress_of(evaluation, true), 2.0 / 7);
  EXPECT_DOUBLE_EQ(progress_of(evaluation, false), 1.0 / 7);
  evaluation.stage = Stage::Tiny;
  evaluation.verdict = Verdict::Wrong;
  evaluation.cases.resize(4);
  evaluation.cases[0].verdict = Verdict::Correct;
  EXPECT_DOUBLE_EQ(progress_of(evaluation, false), 2.25 / 7);
}

TEST(Brief, AFaultOfTheMachineIsTold) {
  const json brief = brief_json(facts(), std::string("the device was lost"));
  EXPECT_EQ(brief["verdict"], "infrastructure");
  EXPECT_EQ(brief["detail"], "the device was lost");
}

TEST(Brief, StaysShortWhateverAKernelBrings) {
  tasks::Evaluation evaluation = fast_kernel();
  evaluation.verdict = Verdict::CompileError;
  for (const std::string piece : {"error: no such name\n", "\u200b", "\"\\\n", "\xff", "\x01"}) {
    std::string flood;
    while (flood.size() < 1500) {
      flood += piece;
    }
    evaluation.detail = evaluation.build.log = evaluation.device_name = flood;
    evaluation.cases.assign(40, timed(ShapeSet::Search, flood));
    evaluation.build.kernels.assign(40, {flood, 1, 2, 3, 4, 5});
    evaluation.build.findings.assign(40, {tasks::FindingKind::LocalMemory, flood});
    for (int i = 0; i < 60; ++i) {
      evaluation.parameters["PARAMETER_WITH_A_LONG_NAME_" + std::to_string(i)] = i;
    }
    BriefFacts long_facts = facts();
    long_facts.file = long_facts.task = flood;
    const json brief = fitted_brief(brief_json(long_facts, evaluation));
    EXPECT_LT(json_line(brief).size(), kBriefBytes);
    EXPECT_EQ(brief["verdict"], "compile_error");
    EXPECT_EQ(brief["digest"], std::string(64, 'd'));
    EXPECT_THAT(brief["feedback"].get<std::string>(), HasSubstr("more bytes]"));
    EXPECT_GT(brief["more"]["shapes"], 30);
  }
}

} // namespace
} // namespace winnow::harness
