#include "evaluators/evaluation/evaluator.h"
#include "evaluators/timing/hidden_speed.h"
#include "harness/run/promotion.h"

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

// A speedup that was measured on a busy machine is useless.
TEST(Promotion, BelievesTurnsMoreThanSpeedupsOfDifferentTimes) {
  const PastAttempt incumbent = attempt(40);
  EXPECT_TRUE(may_lead(raced_against(incumbent, 3, 1.2), &incumbent));
  EXPECT_FALSE(may_lead(raced_against(incumbent, 80, 0.89), &incumbent));
  PastAttempt other = attempt(4);
  other.text = "another kernel";
  EXPECT_FALSE(may_lead(raced_against(other, 3, 1.2), &incumbent)) << "raced another one";
  EXPECT_TRUE(may_lead(raced_against(other, 3, 0.5), nullptr));
}

TEST(Promotion, TheLeaderOfAChainHasBeatenTheLeaderBeforeIt) {
  const auto with_speedup = [](double speedup, double uncertainty) {
    PastAttempt made = attempt(0);
    made.evaluation.evaluator_version = evaluators::kEvaluatorVersion;
    made.evaluation.speedup = speedup;
    made.evaluation.speedup_bounds = {speedup - uncertainty, speedup + uncertainty};
    return made;
  };
  Chain chain;
  EXPECT_EQ(leader_of(chain), nullptr);
  chain.attempts = {with_speedup(1.1, 0.2)};
  EXPECT_EQ(leader_of(chain), nullptr) << "perhaps no faster than the baseline";
  chain.attempts = {with_speedup(2, 0.1), with_speedup(2.1, 0.1)};
  EXPECT_EQ(leader_of(chain), &chain.attempts[0]) << "the second is no faster outside the noise";
  chain.attempts.push_back(with_speedup(2.4, 0.1));
  EXPECT_EQ(leader_of(chain), &chain.attempts[2]);
  chain.attempts[2].evaluation.promoted = false;
  EXPECT_EQ(leader_of(chain), &chain.attempts[0]);
}

/// A hidden shape with these times of the baseline, the leader and the candidate, measured side by
/// side.
tasks::CaseResult timed_at(double baseline_us, double leader_us, double own_us) {
  tasks::CaseResult timed;
  timed.stage = tasks::Stage::Promotion;
  timed.set = tasks::ShapeSet::Promotion;
  timed.verdict = tasks::Verdict::Correct;
  timed.baseline_samples_ns.assign(4, 1000 * baseline_us);
  timed.incumbent_samples_ns.assign(4, 1000 * leader_us);
  timed.samples_ns.assign(4, 1000 * own_us);
  timed.baseline_samples_ns[3] *= 100; // the machine was busy
  timed.baseline_median_ns = 1000 * baseline_us;
  timed.median_ns = 1000 * own_us;
  timed.speedup = baseline_us / own_us;
  return timed;
}

tasks::Evaluation judged_on(const PastAttempt& leader, std::vector<tasks::CaseResult> hidden) {
  tasks::Evaluation evaluation = raced_against(leader, 0, 0);
  evaluation.device = "cuda";
  evaluation.cases = std::move(hidden);
  evaluators::score_hidden(evaluation, 0);
  return evaluation;
}

// Medians of a layernorm on an H200. The candidate beats the leader at shapes with long launches.
// It takes 1.5 times as long at a shape where the baseline takes only 5 us.
TEST(Promotion, IsNotDecidedByLaunchesOfAFewMicroseconds) {
  const PastAttempt leader = attempt(1.2);
  const tasks::Evaluation faster =
      judged_on(leader, {timed_at(5.4, 5.6, 11.3), timed_at(9.9, 4, 12), timed_at(35, 33.3, 31.6)});
  EXPECT_TRUE(may_lead(faster, &leader));
  EXPECT_TRUE(may_lead(faster, nullptr));
  EXPECT_NEAR(faster.hidden_speedup, 35 / 31.6, 1e-9);
  EXPECT_NEAR(faster.hidden_race_ratio, 33.3 / 31.6, 1e-9);
  EXPECT_EQ(faster.cases[0].detail, "correctness only: baseline 5.4 us < 20 us");
  EXPECT_EQ(faster.cases[2].detail, "");
  const tasks::Evaluation slower = judged_on(leader, {timed_at(5.4, 5.6, 2), timed_at(35, 30, 34)});
  EXPECT_FALSE(may_lead(slower, &leader)) << "slow at the size of a search shape";
}

TEST(Promotion, HasNoOpinionWhereEveryHiddenShapeIsShort) {
  const PastAttempt leader = attempt(1.2);
  const tasks::Evaluation evaluation = judged_on(leader, {timed_at(5.4, 2, 20)});
  EXPECT_EQ(evaluation.hidden_speedup, 0);
  EXPECT_TRUE(may_lead(evaluation, &leader));
  ASSERT_EQ(evaluation.notes.size(), 1U);
  EXPECT_EQ(evaluation.notes[0], "hidden shapes decided correctness only: the baseline takes less "
                                 "than 20 us at each of them");
}

TEST(Promotion, OnACpuHalfAMillisecondIsLongEnough) {
  EXPECT_EQ(evaluators::why_speed_does_not_count(240e3, evaluators::least_hidden_ns("cpu")),
            "correctness only: baseline 240 us < 500 us");
  EXPECT_EQ(evaluators::why_speed_does_not_count(500e3, evaluators::least_hidden_ns("cpu")), "");
  EXPECT_EQ(evaluators::why_speed_does_not_count(20e3, evaluators::least_hidden_ns("hip")), "");
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
