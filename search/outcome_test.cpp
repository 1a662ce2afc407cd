#include "search/outcome.h"
#include "tasks/plan/kernel_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::search {
namespace {

constexpr int kEvaluator = 8;

Outcome correct(double hidden_speedup) {
  Outcome outcome;
  outcome.verdict = tasks::Verdict::Correct;
  outcome.evaluator_version = kEvaluator;
  outcome.promoted = true;
  outcome.kernel = "a kernel";
  outcome.hidden_speedup = hidden_speedup;
  return outcome;
}

Outcome raced_against(const Outcome& incumbent, double hidden_speedup, double ratio) {
  Outcome outcome = correct(hidden_speedup);
  outcome.race = {incumbent.kernel, false, ratio};
  return outcome;
}

TEST(MayLead, NeedsNineTenthsOfTheIncumbentsSpeedOnHiddenShapes) {
  const Outcome incumbent = correct(2);
  EXPECT_TRUE(may_lead(correct(1.81), &incumbent));
  EXPECT_FALSE(may_lead(correct(1.79), &incumbent));
  EXPECT_TRUE(may_lead(correct(0.91), nullptr)) << "the baseline leads at first";
  EXPECT_FALSE(may_lead(correct(0.89), nullptr));
  EXPECT_TRUE(may_lead(correct(0), &incumbent)) << "was not timed there";
  Outcome wrong = correct(3);
  wrong.verdict = tasks::Verdict::WrongUnseen;
  EXPECT_FALSE(may_lead(wrong, &incumbent));
}

// A speedup that was measured on a busy machine is useless.
TEST(MayLead, BelievesTurnsMoreThanSpeedupsOfDifferentTimes) {
  const Outcome incumbent = correct(40);
  EXPECT_TRUE(may_lead(raced_against(incumbent, 3, 1.2), &incumbent));
  EXPECT_FALSE(may_lead(raced_against(incumbent, 80, 0.89), &incumbent));
  Outcome other = correct(4);
  other.kernel = "another kernel";
  EXPECT_FALSE(may_lead(raced_against(other, 3, 1.2), &incumbent)) << "raced another one";
  EXPECT_TRUE(may_lead(raced_against(other, 3, 0.5), nullptr));
}

TEST(Beats, AWonRaceOrIntervalsThatDoNotOverlap) {
  Outcome incumbent = correct(0);
  incumbent.speedup = 2;
  incumbent.speedup_bounds = {1.9, 2.1};
  Outcome candidate = correct(0);
  candidate.speedup = 2.2;
  candidate.speedup_bounds = {2.05, 2.3};
  EXPECT_FALSE(beats(candidate, &incumbent));
  candidate.speedup_bounds.low = 2.11;
  EXPECT_TRUE(beats(candidate, &incumbent));
  candidate.race = {incumbent.kernel, false, 0};
  EXPECT_FALSE(beats(candidate, &incumbent)) << "the race decides";
  candidate.race->faster = true;
  candidate.speedup_bounds = {0.5, 0.6};
  EXPECT_TRUE(beats(candidate, &incumbent));
  EXPECT_FALSE(beats(candidate, nullptr)) << "slower than the baseline";
}

TEST(IsContender, OnlyWhatThisEvaluatorPromotedCounts) {
  Outcome outcome = correct(2);
  EXPECT_TRUE(is_contender(outcome, kEvaluator));
  EXPECT_FALSE(is_contender(outcome, kEvaluator + 1));
  outcome.promoted = false;
  EXPECT_FALSE(is_contender(outcome, kEvaluator));
}

TEST(OutcomeOf, TakesWhatASearchNeeds) {
  tasks::Evaluation evaluation;
  evaluation.verdict = tasks::Verdict::Correct;
  evaluation.evaluator_version = kEvaluator;
  evaluation.parameters = {{"BLOCK", 128}};
  evaluation.speedup = 2.5;
  evaluation.speedup_bounds = {2, 3};
  evaluation.hidden_speedup = 1.5;
  evaluation.unranked = "its seed was given"; // in a run that has a seed, all have it
  evaluation.race = tasks::RaceResult{"other", "faster", 1.2, {1.1, 1.3}, 9};
  evaluation.hidden_race_ratio = 0.95;
  const Outcome outcome = outcome_of(evaluation, "text");
  EXPECT_TRUE(is_contender(outcome, kEvaluator));
  EXPECT_EQ(outcome.kernel, tasks::kernel_digest("text", {{"BLOCK", 128}}));
  EXPECT_EQ(outcome.speedup, 2.5);
  EXPECT_EQ(outcome.speedup_bounds.high, 3);
  ASSERT_TRUE(outcome.race);
  EXPECT_EQ(outcome.race->incumbent, "other");
  EXPECT_TRUE(outcome.race->faster);
  EXPECT_EQ(outcome.race->hidden_ratio, 0.95);
}

// A text differs in comments and names that no machine code has. Equal code with other launches is
// another kernel.
TEST(OutcomeOf, HasADigestOfMachineCodeAndLaunches) {
  const auto file = [](const char* block, const char* comment) {
    return fmt::format(
        R"(/*@winnow {{"launches": [{{"kernel": "f", "grid": [1], "block": [{}], "args": []}}]}} @*/
// {}
__global__ void f() {{}}
)",
        block, comment);
  };
  ASSERT_TRUE(tasks::parse_kernel_file(file("32", ""), "k.cu").kernel_file);
  tasks::Evaluation evaluation;
  EXPECT_EQ(outcome_of(evaluation, file("32", "")).code, "") << "the machine code is not known";
  evaluation.build.machine_code_digest = "abc";
  const std::string code = outcome_of(evaluation, file("32", "one")).code;
  EXPECT_EQ(code.size(), 64U);
  EXPECT_EQ(outcome_of(evaluation, file("32", "another")).code, code);
  EXPECT_NE(outcome_of(evaluation, file("64", "one")).code, code);
  evaluation.parameters = {{"BLOCK", 128}};
  EXPECT_NE(outcome_of(evaluation, file("32", "one")).code, code);
}

TEST(OutcomeOf, OnlyAWonRaceMakesALeader) {
  Outcome incumbent;
  incumbent.kernel = "other";
  tasks::Evaluation evaluation;
  evaluation.verdict = tasks::Verdict::Correct;
  evaluation.speedup = 9; // by luck
  for (const char* word : {"slower", "tie", "undecided", "not shown to be faster"}) {
    evaluation.race = tasks::RaceResult{"other", word, 0.98, {0.9, 1.1}, 9};
    const Outcome outcome = outcome_of(evaluation, "text");
    EXPECT_FALSE(outcome.race.value().faster) << word;
    EXPECT_FALSE(beats(outcome, &incumbent)) << word;
  }
}

} // namespace
} // namespace winnow::search
