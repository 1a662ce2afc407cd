#include "evaluators/timing/hidden_speed.h"
#include "search/outcome.h"
#include "tasks/result/least_hidden.h"
#include "tasks/task/speedup_versus.h"

#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

constexpr const char* kLeader = "the leader's text";

/// A kernel that is 1.2 times as fast as the baseline on hidden shapes.
search::Outcome leader_outcome() {
  tasks::Evaluation evaluation;
  evaluation.verdict = tasks::Verdict::Correct;
  evaluation.hidden_speedup = 1.2;
  return search::outcome_of(evaluation, kLeader);
}

bool may_lead(const tasks::Evaluation& evaluation, const search::Outcome* incumbent) {
  return search::may_lead(search::outcome_of(evaluation, "the candidate's text"), incumbent);
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

tasks::Evaluation judged_on(const search::Outcome& leader, std::vector<tasks::CaseResult> hidden) {
  tasks::Evaluation evaluation;
  evaluation.verdict = tasks::Verdict::Correct;
  evaluation.race.emplace().rival = leader.kernel;
  evaluation.device = "cuda";
  evaluation.cases = std::move(hidden);
  evaluators::score_hidden(evaluation, 0, tasks::kVersusBaseline);
  return evaluation;
}

// Medians of a layernorm on an H200. The candidate beats the leader at shapes with long launches.
// It takes 1.5 times as long at a shape where the baseline takes only 5 us.
TEST(Promotion, IsNotDecidedByLaunchesOfAFewMicroseconds) {
  const search::Outcome leader = leader_outcome();
  const tasks::Evaluation faster =
      judged_on(leader, {timed_at(5.4, 5.6, 11.3), timed_at(9.9, 4, 12), timed_at(35, 33.3, 31.6)});
  EXPECT_TRUE(may_lead(faster, &leader));
  EXPECT_TRUE(may_lead(faster, nullptr));
  EXPECT_NEAR(faster.hidden_speedup, 35 / 31.6, 1e-9);
  EXPECT_NEAR(faster.hidden_race_ratio, 33.3 / 31.6, 1e-9);
  EXPECT_EQ(faster.cases[0].detail, "correctness only: baseline.cu 5.4 us < 20 us");
  EXPECT_EQ(faster.cases[2].detail, "");
  const tasks::Evaluation slower = judged_on(leader, {timed_at(5.4, 5.6, 2), timed_at(35, 30, 34)});
  EXPECT_FALSE(may_lead(slower, &leader)) << "slow at the size of a search shape";
}

TEST(Promotion, HasNoOpinionWhereEveryHiddenShapeIsShort) {
  const search::Outcome leader = leader_outcome();
  const tasks::Evaluation evaluation = judged_on(leader, {timed_at(5.4, 2, 20)});
  EXPECT_EQ(evaluation.hidden_speedup, 0);
  EXPECT_TRUE(may_lead(evaluation, &leader));
  ASSERT_EQ(evaluation.notes.size(), 1U);
  EXPECT_EQ(evaluation.notes[0], "hidden shapes decided correctness only: baseline.cu takes less "
                                 "than 20 us at each of them");
}

TEST(Promotion, OnACpuHalfAMillisecondIsLongEnough) {
  const auto why = [](double ns, std::string_view device) {
    return evaluators::why_speed_does_not_count(ns, tasks::least_hidden_ns(device),
                                                tasks::kVersusEager);
  };
  EXPECT_EQ(why(240e3, "cpu"), "correctness only: PyTorch eager 240 us < 500 us");
  EXPECT_EQ(why(500e3, "cpu"), "");
  EXPECT_EQ(why(20e3, "hip"), "");
}

} // namespace
} // namespace winnow::harness
