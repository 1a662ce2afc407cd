#include "profiling/statistics/stop_rule.h"
#include "profiling/statistics/testing/noise_fake.h"

#include <initializer_list>
#include <limits>

#include <gtest/gtest.h>

namespace winnow::profiling {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Takes samples until the rule ends the series.
std::vector<double> sampled(StopRule& rule, const std::function<double()>& draw,
                            double ns_a_sample = 0) {
  std::vector<double> samples;
  double spent_ns = 0;
  while (rule.more(samples, spent_ns)) {
    samples.push_back(draw());
    spent_ns += ns_a_sample;
  }
  return samples;
}

TEST(StopRule, ConstantTimesNeedTheLeast) {
  StopRule rule({});
  EXPECT_EQ(sampled(rule, [] { return 1000; }).size(), 7U);
  EXPECT_EQ(rule.reason(), StopReason::Converged);
}

TEST(StopRule, StopsAtTheRelativeError) {
  StopRule rule({});
  Dice dice(1);
  const auto samples = sampled(rule, [&] { return dice.lognormal(1000, 0.01); });
  EXPECT_EQ(rule.reason(), StopReason::Converged);
  EXPECT_GT(samples.size(), 12U); // (1 % / 0.2 %)^2 = 25
  EXPECT_LT(samples.size(), 50U);
}

TEST(StopRule, NoiseEndsAtTheMaximum) {
  StopRule rule({});
  Dice dice(1);
  EXPECT_EQ(sampled(rule, [&] { return dice.lognormal(1000, 0.3); }).size(), 200U);
  EXPECT_EQ(rule.reason(), StopReason::MaxSamples);
}

TEST(StopRule, BudgetEndsIt) {
  StopLimits limits;
  limits.budget_ns = 100;
  StopRule rule(limits);
  Dice dice(1);
  EXPECT_EQ(sampled(
                rule, [&] { return dice.lognormal(10, 0.3); }, 10)
                .size(),
            10U);
  EXPECT_EQ(rule.reason(), StopReason::Budget);
}

TEST(StopRule, SlowKernelsMayOverdraw) {
  StopLimits limits;
  limits.budget_ns = 100;
  StopRule few(limits), one(limits);
  EXPECT_EQ(sampled(
                few, [] { return 150; }, 150)
                .size(),
            3U); // 450 > 4 * 100
  EXPECT_EQ(few.reason(), StopReason::Budget);
  EXPECT_EQ(sampled(
                one, [] { return 1000; }, 1000)
                .size(),
            1U);
  EXPECT_EQ(one.reason(), StopReason::Budget);
}

TEST(StopRule, TheFirstSampleIsAlwaysTaken) {
  StopLimits limits;
  limits.budget_ns = 0;
  limits.max_samples = 0;
  StopRule rule(limits);
  EXPECT_TRUE(rule.more({}, 1e9));
  EXPECT_FALSE(rule.reason());
  EXPECT_FALSE(rule.more(std::vector<double>{1}, 1e9));
}

TEST(StopRule, SeveralSamplesBetweenCallsAndANewSeries) {
  StopRule rule({});
  EXPECT_FALSE(rule.more(std::vector<double>(20, 1000.0), 0));
  EXPECT_EQ(rule.reason(), StopReason::Converged);
  EXPECT_TRUE(rule.more(std::vector<double>{1000, 2000, 1000, 2000, 1000, 2000, 1000, 2000}, 0));
  EXPECT_FALSE(rule.reason());
}

TEST(StopRule, BadSamplesAreNoProof) {
  StopLimits limits;
  limits.max_samples = 30;
  StopRule rule(limits), zeros(limits), mixed(limits);
  EXPECT_EQ(sampled(rule, [] { return kNaN; }).size(), 30U);
  EXPECT_EQ(rule.reason(), StopReason::MaxSamples);
  EXPECT_EQ(sampled(zeros, [] { return 0; }).size(), 7U);
  int turn = 0;
  EXPECT_EQ(sampled(mixed, [&] { return ++turn % 2 ? -5.0 : kNaN; }).size(), 7U);
}

int launches_until_warm(WarmUp& warm_up, std::initializer_list<double> times) {
  for (const double time : times) {
    if (warm_up.warm(time)) {
      break;
    }
  }
  return warm_up.launches();
}

TEST(WarmUp, ThreeThatAgree) {
  WarmUp warm_up;
  EXPECT_EQ(launches_until_warm(warm_up, {100, 101, 100.5, 100, 100}), 3);
  EXPECT_TRUE(warm_up.settled());
}

TEST(WarmUp, WaitsWhileTimesFall) {
  WarmUp warm_up;
  EXPECT_EQ(launches_until_warm(warm_up, {900, 400, 300, 200, 150, 120, 110, 109, 110, 100}), 9);
  EXPECT_TRUE(warm_up.settled());
}

TEST(WarmUp, NoiseThatNoLongerFalls) {
  WarmUp warm_up;
  EXPECT_EQ(launches_until_warm(warm_up, {900, 100, 104, 97, 103, 99, 108, 50}), 7);
  EXPECT_TRUE(warm_up.settled());
}

TEST(WarmUp, EndsAtItsLimits) {
  WarmUp endless, slow({.max_ns = 1000});
  double time = 1e9;
  while (!endless.warm(time)) {
    time *= 0.9;
  }
  EXPECT_EQ(endless.launches(), 25);
  EXPECT_FALSE(endless.settled());
  EXPECT_TRUE(slow.warm(2000));
  EXPECT_FALSE(slow.settled());
}

TEST(WarmUp, BadTimesCountAsLaunches) {
  WarmUp warm_up;
  while (!warm_up.warm(kNaN)) {
  }
  EXPECT_EQ(warm_up.launches(), 25);
  WarmUp zeros;
  EXPECT_EQ(launches_until_warm(zeros, {0, -1, 100, 100, 100, 100}), 5);
}

} // namespace
} // namespace winnow::profiling
