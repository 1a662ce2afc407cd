#include "harness/selftest/selftest_report.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using evaluators::KernelResult;
using evaluators::MutantResult;
using testing::HasSubstr;
using testing::Not;

MutantResult mutant(tasks::MutantKind kind, tasks::ShapeSet set, MutantResult::State state) {
  MutantResult result;
  result.mutant.kind = kind;
  result.set = set;
  result.state = state;
  result.shape_id = std::string(to_string(set)) + "/0";
  result.max_error_ratio = std::numeric_limits<double>::infinity();
  return result;
}

evaluators::NarrowResult narrowed(const std::string& name, tasks::Precision format, bool is_allowed,
                                  evaluators::NarrowResult::State state) {
  evaluators::NarrowResult result;
  result.narrowing = {name, format, is_allowed};
  result.state = state;
  result.shape_id = "search/1";
  result.ratios = {0.5, 3.25};
  return result;
}

TaskSelftest proven_task() {
  TaskSelftest selftest;
  selftest.task = "axpy";
  selftest.mutants = {
      mutant(tasks::MutantKind::Zeros, tasks::ShapeSet::Tiny, MutantResult::State::Rejected),
      mutant(tasks::MutantKind::Mean, tasks::ShapeSet::Tiny, MutantResult::State::NotApplicable)};
  selftest.narrowed = {
      narrowed("term", tasks::Precision::F16, false, evaluators::NarrowResult::State::Rejected)};
  selftest.honest = {{"baseline.cu", {{"BLOCK", 128}}, KernelResult::State::Accepted, 9, 0.5, ""}};
  selftest.reference = {ReferenceAgreement::State::Agrees, "torch 9.9", 3, 3, {}, ""};
  return selftest;
}

TEST(SelftestReport, AProvenTask) {
  const TaskSelftest selftest = proven_task();
  EXPECT_TRUE(is_proven(selftest));
  const std::string text = to_text({"cpu", "a cpu", 17, {selftest}});
  EXPECT_THAT(text, HasSubstr("rejected"));
  EXPECT_THAT(text, HasSubstr("axpy: proven"));
  EXPECT_THAT(text, HasSubstr("1 of 1 tasks proven, 1 of 1 honest kernels accepted"));
  EXPECT_THAT(text, HasSubstr("seed 17"));
  EXPECT_THAT(text, Not(HasSubstr("ACCEPTED")));
  EXPECT_THAT(text, Not(HasSubstr("every shape")));
}

TEST(SelftestReport, AModuleNeedsNoSecondReference) {
  TaskSelftest selftest = proven_task();
  selftest.reference = {};
  EXPECT_FALSE(is_proven(selftest));
  selftest.is_module = true;
  selftest.honest[0].max_error_ratio = 0.001;
  EXPECT_TRUE(is_proven(selftest));
  const std::string text = to_text({"cpu", "a cpu", 17, {selftest}});
  EXPECT_THAT(text, HasSubstr("the reference is the module in reference.py"));
  EXPECT_THAT(text, Not(HasSubstr("warning: the error of honest kernels")));
  EXPECT_THAT(text, Not(HasSubstr("operands in tf32"))) << "no task of the report has it";
}

TEST(SelftestReport, OneAcceptedMutantIsEnoughToFail) {
  TaskSelftest selftest = proven_task();
  selftest.mutants.push_back(
      mutant(tasks::MutantKind::Zeros, tasks::ShapeSet::HeldOut, MutantResult::State::Accepted));
  EXPECT_FALSE(is_proven(selftest));
  const std::string text = to_text({"cpu", "a cpu", 17, {selftest}});
  EXPECT_THAT(text, HasSubstr("ACCEPTED held_out/0"));
  EXPECT_THAT(text, HasSubstr("mutant accepted on held_out: zeros"));
}

TEST(SelftestReport, SaysHowNearAMutantCameThatEveryShapeRejects) {
  TaskSelftest selftest = proven_task();
  for (const double ratio : {7.0, 2.5, 30.0}) {
    selftest.mutants.push_back(
        mutant(tasks::MutantKind::LeftOut, tasks::ShapeSet::Search, MutantResult::State::Rejected));
    selftest.mutants.back().mutant.every_shape = true;
    selftest.mutants.back().max_error_ratio = ratio;
  }
  EXPECT_THAT(
      to_text({"cpu", "a cpu", 17, {selftest}}),
      HasSubstr(
          "3 of them rejected by every shape alone, with an error of at least 2.5 times the limit "
          "(term left out at search/0)"));
}

TEST(SelftestReport, OneRejectedHonestKernelIsEnoughToFail) {
  TaskSelftest selftest = proven_task();
  selftest.honest.push_back(
      {"honest/tree.cu", {{"FAN", 2}}, KernelResult::State::Rejected, 4, 2.5, "wrong at tiny/1"});
  EXPECT_FALSE(is_proven(selftest));
  EXPECT_THAT(to_text({"cpu", "a cpu", 17, {selftest}}),
              HasSubstr("honest/tree.cu FAN=2 rejected: wrong at tiny/1"));
}

TEST(SelftestReport, NarrowedIntermediatesMustBeWhatTheTaskSays) {
  using State = evaluators::NarrowResult::State;
  TaskSelftest selftest = proven_task();
  selftest.narrowed = {narrowed("term", tasks::Precision::F16, false, State::Rejected),
                       narrowed("weight", tasks::Precision::F16, true, State::Accepted),
                       narrowed("term", tasks::Precision::BF16, false, State::NotApplicable)};
  EXPECT_TRUE(is_proven(selftest));
  const SelftestReport report{"cpu", "a cpu", 17, {selftest}};
  EXPECT_THAT(to_text(report), HasSubstr("intermediates as f16  allowed weight"));
  EXPECT_THAT(to_text(report), Not(HasSubstr("intermediates as bf16")));
  EXPECT_THAT(to_text(report),
              HasSubstr("narrowed intermediates: 1 rejected, 1 accepted; the least error that is "
                        "rejected is 3.25 times the limit (term as f16 at search/1)"));
  EXPECT_THAT(to_text(report, true), HasSubstr("weight as f16 at search/1: accepted (task.toml "
                                               "allows it), rms 3.25 of its limit"));
  const auto document = nlohmann::json::parse(to_json_text(report));
  const auto& first = document.at("tasks").at(0).at("narrowed").at(0);
  EXPECT_EQ(first.at("intermediate"), "term");
  EXPECT_EQ(first.at("rms_ratio"), 3.25);
  EXPECT_EQ(first.at("element_ratio"), 0.5);

  selftest.narrowed[0].state = State::Accepted;
  EXPECT_FALSE(is_proven(selftest));
  EXPECT_THAT(to_text({"cpu", "a cpu", 17, {selftest}}), HasSubstr("ACCEPTED term"));
  selftest.narrowed[0].state = State::Rejected;
  selftest.narrowed[1].state = State::Rejected;
  EXPECT_FALSE(is_proven(selftest)) << "prompts would promise what the judge refuses";
  EXPECT_THAT(to_text({"cpu", "a cpu", 17, {selftest}}), HasSubstr("REFUSED weight"));
}

TEST(SelftestReport, WarnsOfAReferenceWithoutMarks) {
  TaskSelftest selftest = proven_task();
  selftest.narrowed.clear();
  EXPECT_THAT(warnings(selftest), testing::ElementsAre(HasSubstr("no intermediate is marked")));
  EXPECT_TRUE(is_proven(selftest));
  selftest.precision = tasks::Precision::Int;
  EXPECT_THAT(warnings(selftest), testing::IsEmpty());
}

TEST(SelftestReport, OneAcceptedWrongKernelIsEnoughToFail) {
  TaskSelftest selftest = proven_task();
  selftest.wrong = {{"wrong/narrow_terms.cu", {}, KernelResult::State::Rejected, 3, 2, "wrong"},
                    {"wrong/one_pass.cu", {}, KernelResult::State::Unsupported, 0, 0, "asm"}};
  EXPECT_TRUE(is_proven(selftest));
  const std::string text = to_text({"cpu", "a cpu", 17, {selftest}});
  EXPECT_THAT(text, HasSubstr("wrong/narrow_*.cu     rejected"));
  EXPECT_THAT(text, HasSubstr("wrong/narrow_terms.cu rejected: wrong"));
  selftest.wrong.front().state = KernelResult::State::Accepted;
  EXPECT_FALSE(is_proven(selftest));
  EXPECT_THAT(to_text({"cpu", "a cpu", 17, {selftest}}),
              HasSubstr("ACCEPTED wrong/narrow_terms.cu"));
}

TEST(SelftestReport, WarnsOfTimingsThatCanBeMemorised) {
  TaskSelftest selftest = proven_task();
  selftest.memorisable = "its timings can be memorised";
  EXPECT_TRUE(is_proven(selftest)) << "of its verdicts nothing bad is known";
  EXPECT_THAT(to_text({"cpu", "a cpu", 17, {selftest}}),
              HasSubstr("warning: its timings can be memorised"));
}

TEST(SelftestReport, WarnsOfATaskThatDoubtsItsOwnFigures) {
  TaskSelftest selftest = proven_task();
  EXPECT_THAT(warnings(selftest), testing::IsEmpty());
  selftest.doubts = {"`bytes` is too large"};
  EXPECT_THAT(to_text({"cpu", "a cpu", 17, {selftest}}),
              HasSubstr("\n  warning: `bytes` is too large\n"));
  const auto document = nlohmann::json::parse(to_json_text({"cpu", "a cpu", 17, {selftest}}));
  EXPECT_EQ(document.at("tasks").at(0).at("warnings"), nlohmann::json{"`bytes` is too large"});
}

TEST(SelftestReport, WarnsOfAToleranceFarAboveEveryHonestError) {
  TaskSelftest selftest = proven_task();
  selftest.honest.push_back({"reference.cu", {}, KernelResult::State::Accepted, 9, 0.5, ""});
  selftest.honest.front().max_error_ratio = 0.0115;
  EXPECT_THAT(warnings(selftest), testing::ElementsAre(HasSubstr("is at most 0.011 of the limit")));
  selftest.honest.front().max_error_ratio = 0.2;
  EXPECT_THAT(warnings(selftest), testing::IsEmpty());
  selftest.honest.front().max_error_ratio = 0;
  EXPECT_THAT(warnings(selftest), testing::IsEmpty()) << "exact";
  selftest.honest.front().max_error_ratio = 0.0115;
  selftest.precision = tasks::Precision::TF32;
  EXPECT_THAT(warnings(selftest), testing::IsEmpty()) << "they may compute in f32";
}

TEST(SelftestReport, NothingJudgedProvesNothing) {
  TaskSelftest without_mutants = proven_task(), without_kernels = proven_task(),
               unchecked = proven_task();
  without_mutants.mutants.clear();
  without_kernels.honest.clear();
  unchecked.reference.state = ReferenceAgreement::State::Unchecked;
  EXPECT_FALSE(is_proven(without_mutants));
  EXPECT_FALSE(is_proven(without_kernels));
  EXPECT_FALSE(is_proven(unchecked));
}

TEST(SelftestReport, JsonHasNoInfinities) {
  const auto document = nlohmann::json::parse(to_json_text({"cpu", "a cpu", 17, {proven_task()}}));
  EXPECT_EQ(document.at("schema"), "winnow.selftest");
  EXPECT_EQ(document.at("version"), 3);
  EXPECT_EQ(document.at("seed"), "17") << "text: more than a double holds";
  const auto& task = document.at("tasks").at(0);
  EXPECT_EQ(task.at("proven"), true);
  EXPECT_TRUE(task.at("mutants").at(0).at("max_error_ratio").is_null());
  EXPECT_EQ(task.at("reference").at("state"), "agrees");
}

} // namespace
} // namespace winnow::harness
