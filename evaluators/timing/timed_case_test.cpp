#include "evaluators/timing/timed_case.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

constexpr int kSamples = 60;

/// A report from a machine whose clock rises by `drift` in total and jumps by `step` every ten
/// samples. The baseline takes `ratio` times as long as the candidate, the incumbent `rival` times
/// as long.
RunCaseReport report(double ratio, double rival, double drift = 0, double step = 0) {
  RunCaseReport made;
  made.rival_samples_ns.resize(2);
  for (int i = 0; i < kSamples; ++i) {
    const double noise = 0.001 * std::sin(7.0 * i);
    const double clock = 1 + drift * i / kSamples + (i / 10 % 2 == 1 ? step : 0);
    made.samples_ns.push_back(1000 * clock * (1 + noise));
    made.rival_samples_ns[0].push_back(ratio * 1000 * clock * (1 - noise));
    made.rival_samples_ns[1].push_back(rival * 1000 * clock * (1 - noise));
  }
  return made;
}

tasks::CaseResult taken(const RunCaseReport& report) {
  tasks::CaseResult timed;
  timed.stage = tasks::Stage::Time;
  take_samples(report, timed);
  return timed;
}

TEST(TimedCase, TheSpeedupIsThatOfSamplesTakenSideBySide) {
  const tasks::CaseResult timed = taken(report(1.5, 1, 0.3)); // the drift of the clock cancels out
  EXPECT_NEAR(timed.speedup, 1.5, 0.001);
  ASSERT_TRUE(timed.speedup_bounds.known());
  EXPECT_LE(timed.speedup_bounds.low, timed.speedup);
  EXPECT_GE(timed.speedup_bounds.high, timed.speedup);
  EXPECT_LT(timed.speedup_bounds.high - timed.speedup_bounds.low, 0.01);
}

TEST(TimedCase, SaysWhatWasOddAboutTheSamples) {
  const tasks::CaseResult calm = taken(report(1, 1));
  EXPECT_EQ(calm.conditions.drift, 0);
  EXPECT_FALSE(calm.conditions.bimodal);
  EXPECT_EQ(calm.conditions.outliers, 0);
  EXPECT_NEAR(taken(report(1, 1, 0.1)).conditions.drift, 0.1, 0.02);
  EXPECT_TRUE(taken(report(1, 1, 0, 0.05)).conditions.bimodal);
  RunCaseReport interrupted = report(1, 1);
  interrupted.samples_ns[5] = interrupted.samples_ns[30] = 20'000;
  EXPECT_EQ(taken(interrupted).conditions.outliers, 2);
}

TEST(TimedCase, ABoundOfSeveralShapesIsNarrowerThanThatOfOne) {
  tasks::CaseResult one = taken(report(2, 1));
  one.speedup_bounds = {1.8, 2.2};
  const tasks::Bounds alone = bounds_of_speedup({one}, tasks::Stage::Time);
  EXPECT_NEAR(alone.low, 1.8, 1e-2);
  EXPECT_NEAR(alone.high, 2.2, 1e-2);
  const tasks::Bounds four = bounds_of_speedup({one, one, one, one}, tasks::Stage::Time);
  EXPECT_NEAR(std::log(2 / four.low), std::log(2 / alone.low) / 2, 1e-2);
  EXPECT_FALSE(bounds_of_speedup({}, tasks::Stage::Time).known());
  EXPECT_FALSE(bounds_of_speedup({one}, tasks::Stage::Promotion).known());
  one.speedup_bounds = {};
  EXPECT_FALSE(bounds_of_speedup({one}, tasks::Stage::Time).known()) << "too few samples";
}

TEST(TimedCase, RacesAgainstTheIncumbent) {
  const auto won = race_of({taken(report(1, 1.2))}, "abc");
  ASSERT_TRUE(won);
  EXPECT_EQ(won->rival, "abc");
  EXPECT_EQ(won->verdict, "faster");
  EXPECT_NEAR(won->ratio.value(), 1.2, 0.01);
  EXPECT_EQ(race_of({taken(report(1, 0.8))}, "abc")->verdict, "slower");
  RunCaseReport given_up = report(1, 0.97); // after few launches
  given_up.samples_ns = {1000, 1100, 1050, 1010, 1080, 1020, 1090, 1000};
  given_up.rival_samples_ns[1] = {1000, 900, 1000, 950, 930, 1010, 920, 960};
  const auto lost = race_of({taken(given_up)}, "abc");
  EXPECT_EQ(lost->verdict, "not shown to be faster");
  EXPECT_LT(lost->bounds.low, 1);
  EXPECT_GT(lost->bounds.high, 1);
  RunCaseReport alone = report(1, 1);
  alone.rival_samples_ns.resize(1);
  EXPECT_FALSE(race_of({taken(alone)}, "abc"));
}

TEST(TimedCase, ARaceHasNoRatioIfAShapeGotNoBlock) {
  const tasks::CaseResult whole = taken(report(1, 1.2));
  RunCaseReport one_launch = report(1, 1.2);
  one_launch.samples_ns.resize(1);
  one_launch.rival_samples_ns[1].resize(1);
  RunCaseReport alone = report(1, 1);
  alone.rival_samples_ns.resize(1);
  for (const RunCaseReport& other : {one_launch, alone}) {
    const auto race = race_of({whole, taken(other)}, "abc");
    ASSERT_TRUE(race);
    EXPECT_EQ(race->ratio, std::nullopt);
  }
  EXPECT_EQ(race_at(taken(one_launch), "abc")->ratio, std::nullopt);
}

TEST(CompareMedians, TakesBothErrorsTogether) {
  tasks::CaseResult timed;
  timed.baseline_samples_ns = std::vector<double>(20, 400);
  timed.baseline_median_ns = 400;
  timed.median_ns = 100;
  timed.median_bounds_ns = {80, 125};
  compare_medians(timed);
  EXPECT_DOUBLE_EQ(timed.speedup, 4);
  EXPECT_NEAR(timed.speedup_bounds.low, 400.0 / 125, 1e-9) << "the baseline has no error";
  EXPECT_NEAR(timed.speedup_bounds.high, 400.0 / 80, 1e-9);
  timed.median_bounds_ns = {};
  compare_medians(timed);
  EXPECT_FALSE(timed.speedup_bounds.known());
}

} // namespace
} // namespace winnow::evaluators
