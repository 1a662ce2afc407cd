#include "evaluators/evaluator.h"
#include "harness/promotion.h"

#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

PastAttempt attempt(double hidden_speedup) {
  PastAttempt attempt;
  attempt.text = "a kernel";
  attempt.evaluation.verdict = tasks::Verdict::Correct;
  attempt.evaluation.hidden_speedup = hidden_speedup;
  return attempt;
}

tasks::Evaluation raced_against(const PastAttempt& incumbent, double hidden_speedup, double ratio) {
  tasks::Evaluation evaluation = attempt(hidden_speedup).evaluation;
  evaluation.race.emplace();
  evaluation.race->rival = digest_of(kernel_of(incumbent));
  evaluation.hidden_race_ratio = ratio;
  return evaluation;
}

TEST(Promotion, NeedsNineTenthsOfTheIncumbentsSpeedOnHiddenShapes) {
  const PastAttempt incumbent = attempt(2);
  EXPECT_TRUE(may_lead(attempt(1.81).evaluation, &incumbent));
  EXPECT_FALSE(may_lead(attempt(1.79).evaluation, &incumbent));
  EXPECT_TRUE(may_lead(attempt(0.91).evaluation, nullptr)) << "the baseline leads at first";
  EXPECT_FALSE(may_lead(attempt(0.89).evaluation, nullptr));
  EXPECT_TRUE(may_lead(attempt(0).evaluation, &incumbent)) << "was not timed there";
  tasks::Evaluation wrong = attempt(3).evaluation;
  wrong.verdict = tasks::Verdict::WrongUnseen;
  EXPECT_FALSE(may_lead(wrong, &incumbent));
}

// A machine that was busy while one of the two was measured makes its speedup of no use.
TEST(Promotion, BelievesTurnsMoreThanSpeedupsOfDifferentTimes) {
  const PastAttempt incumbent = attempt(40);
  EXPECT_TRUE(may_lead(raced_against(incumbent, 3, 1.2), &incumbent));
  EXPECT_FALSE(may_lead(raced_against(incumbent, 80, 0.89), &incumbent));
  PastAttempt other = attempt(4);
  other.text = "another kernel";
  EXPECT_FALSE(may_lead(raced_against(other, 3, 1.2), &incumbent)) << "raced another one";
  EXPECT_TRUE(may_lead(raced_against(other, 3, 0.5), nullptr));
}

TEST(Promotion, OnlyWhatThisEvaluatorPromotedCounts) {
  tasks::Evaluation evaluation = attempt(2).evaluation;
  evaluation.evaluator_version = evaluators::kEvaluatorVersion;
  EXPECT_TRUE(is_contender(evaluation));
  evaluation.unranked = "its seed was given";
  EXPECT_TRUE(is_contender(evaluation)) << "of a run that has a seed, all have it";
  evaluation.promoted = false;
  EXPECT_FALSE(is_contender(evaluation));
  evaluation.promoted = true;
  --evaluation.evaluator_version;
  EXPECT_FALSE(is_contender(evaluation));
}

} // namespace
} // namespace winnow::harness
