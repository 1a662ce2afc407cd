#include "profiling/statistics/sitting.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>

namespace winnow::profiling {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

/// Kernels with these times. Each round has a random factor with log deviation `deviation`, and so
/// has each launch. One launch in ten is disturbed.
Sitting rounds_of(const std::vector<double>& times, double deviation, std::uint64_t seed,
                  int rounds = 6) {
  constexpr int kTurns = 8;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, deviation);
  std::vector<RoundTimes> all;
  for (int i = 0; i < rounds; ++i) {
    RoundTimes& round = all.emplace_back();
    for (const double time : times) {
      const double level = std::log(time) + noise(random);
      std::vector<double>& turns = round.emplace_back();
      for (int turn = 0; turn < kTurns; ++turn) {
        turns.push_back(std::exp(level + noise(random)) * (random() % 10 == 0 ? 30 : 1));
      }
    }
  }
  return Sitting({all});
}

/// A sitting with one turn per round.
Sitting levels_of(const std::vector<std::vector<double>>& logs) {
  std::vector<RoundTimes> rounds;
  for (const std::vector<double>& levels : logs) {
    RoundTimes& round = rounds.emplace_back();
    for (const double level : levels) {
      round.push_back({std::exp(level)});
    }
  }
  return Sitting({rounds});
}

TEST(SittingLevels, WhatATurnHasInCommonIsTakenAway) {
  // The machine is five times slower in two turns, and one launch is disturbed.
  const std::vector<double> levels =
      log_levels({{10, 50, 10, 50, 10}, {20, 100, 20, 100, 20}, {5, 25, 5, 700, 5}});
  ASSERT_EQ(levels.size(), 3U);
  EXPECT_THAT(std::exp(levels[1] - levels[0]), DoubleNear(2, 1e-9));
  EXPECT_THAT(std::exp(levels[0] - levels[2]), DoubleNear(2, 1e-9));
}

TEST(SittingLevels, ASlowKernelMayHaveFewerTurns) {
  // All kernels run only in the first turn, at half the speed.
  const std::vector<double> levels = log_levels({{20}, {4, 2, 2, 2, 2}, {2, 1, 1, 1, 1}});
  EXPECT_THAT(std::exp(levels[1] - levels[2]), DoubleNear(2, 1e-9));
  EXPECT_THAT(std::exp(levels[0] - levels[2]), DoubleNear(10, 1e-9));
}

TEST(SittingLevels, TimesThatAreNoneDoNotCount) {
  const std::vector<double> levels = log_levels({{10, 0, 10}, {20, 20, 20}});
  EXPECT_THAT(std::exp(levels[1] - levels[0]), DoubleNear(2, 1e-9));
  EXPECT_TRUE(std::isnan(log_levels({{0}, {1}}).front()));
}

TEST(Sitting, RatiosFitTogether) {
  const Sitting sitting = rounds_of({100, 30, 31}, 0.3, 1);
  EXPECT_THAT(sitting.ratio(1, 0) / sitting.ratio(2, 0), DoubleNear(sitting.ratio(1, 2), 1e-12));
  EXPECT_THAT(sitting.ratio(1, 0) * sitting.ratio(0, 1), DoubleNear(1, 1e-12));
}

TEST(Sitting, OrdersByTimeAndSharesRanksWithinTheNoise) {
  const Sitting sitting = rounds_of({100, 20, 10, 20.01, 10.001}, 0.0003, 2);
  const std::vector<std::size_t> order = sitting.order();
  const std::vector<int> ranks = sitting.ranks(order);
  EXPECT_THAT(ranks, ElementsAre(1, 1, 3, 3, 5));
  EXPECT_EQ(order.back(), 0U);
  EXPECT_EQ(sitting.verdict(2, 1), RaceVerdict::Faster);
  EXPECT_EQ(sitting.verdict(1, 2), RaceVerdict::Slower);
  EXPECT_EQ(sitting.verdict(1, 3), RaceVerdict::Tie);
  EXPECT_EQ(rounds_of({10, 10.01}, 0.2, 3).verdict(0, 1), RaceVerdict::Undecided);
}

TEST(Sitting, ARankEndsWhereAVerdictTellsTheLastFromTheFirst) {
  // Neighbours are indistinguishable; the first and the third kernel differ.
  const Sitting sitting = levels_of({{0.00, 0.012, 0.021},
                                     {0.00, -0.01, 0.022},
                                     {0.00, 0.030, 0.020},
                                     {0.00, 0.000, 0.019},
                                     {0.00, 0.020, 0.020},
                                     {0.00, 0.010, 0.021}});
  ASSERT_EQ(sitting.verdict(1, 0), RaceVerdict::Undecided);
  ASSERT_EQ(sitting.verdict(2, 1), RaceVerdict::Undecided);
  ASSERT_EQ(sitting.verdict(2, 0), RaceVerdict::Slower);
  EXPECT_THAT(sitting.ranks(sitting.order()), ElementsAre(1, 1, 3));
}

TEST(Sitting, OneRoundDecidesNothing) {
  const Sitting sitting = rounds_of({100, 1}, 0.1, 4, 1);
  EXPECT_EQ(sitting.verdict(1, 0), RaceVerdict::Undecided);
  EXPECT_EQ(sitting.interval(1, 0).low, 0);
  EXPECT_TRUE(std::isinf(sitting.repeat_interval(1, 0, 0).high));
}

// Two sittings differ by the noise of their rounds and by the state of the machine. The interval of
// one must contain the value of the other. Intervals of races must contain the true ratio.
TEST(Sitting, IntervalsHoldWhatTheySay) {
  constexpr int kTrials = 500;
  constexpr double kSpread = 0.1;
  std::mt19937_64 random(5);
  std::normal_distribution<double> state(0, kSpread);
  int repeats_held = 0, ratios_held = 0;
  for (int i = 0; i < kTrials; ++i) {
    const auto sit = [&] { return rounds_of({std::exp(state(random)), 0.5}, 0.05, random()); };
    const Interval predicted = sit().repeat_interval(1, 0, kSpread);
    const double next = sit().ratio(1, 0);
    repeats_held += predicted.low <= next && next <= predicted.high ? 1 : 0;
    const Interval ratio = rounds_of({1, 0.5}, 0.05, random()).interval(1, 0);
    ratios_held += ratio.low <= 2 && 2 <= ratio.high ? 1 : 0;
  }
  EXPECT_GE(repeats_held, kTrials * 94 / 100);
  EXPECT_GE(ratios_held, kTrials * 98 / 100);
}

} // namespace
} // namespace winnow::profiling
