#include "profiling/statistics/race.h"
#include "profiling/statistics/testing/noise_fake.h"

#include <array>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::profiling {
namespace {

using ::testing::DoubleNear;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
using Clock = std::function<double()>; // a device's time of a kernel that takes 1

TwoLaunches both(double nanoseconds) {
  return {nanoseconds, nanoseconds};
}

void add_block(Race& race, const Clock& clock, double challenger, double other,
               std::size_t shape = 0) {
  TwoLaunches of_challenger{}, of_other{};
  of_challenger[0] = challenger * clock();
  of_other[0] = other * clock();
  of_other[1] = other * clock();
  of_challenger[1] = challenger * clock();
  race.add(of_challenger, of_other, shape);
}

Race raced(const Clock& clock, double challenger, double other, const RaceRules& rules = {}) {
  Race race(rules);
  while (race.verdict() == RaceVerdict::Undecided) {
    add_block(race, clock, challenger, other);
  }
  return race;
}

struct Tally {
  int faster = 0, slower = 0, tie = 0, not_faster = 0;
  double blocks = 0;
};

Tally tally(int races, const Clock& clock, double gain) {
  Tally result;
  for (int i = 0; i < races; ++i) {
    const Race race = raced(clock, 1000 / gain, 1000);
    result.faster += race.verdict() == RaceVerdict::Faster ? 1 : 0;
    result.slower += race.verdict() == RaceVerdict::Slower ? 1 : 0;
    result.tie += race.verdict() == RaceVerdict::Tie ? 1 : 0;
    result.not_faster += race.verdict() == RaceVerdict::NotFaster ? 1 : 0;
    result.blocks += static_cast<double>(race.blocks()) / races;
  }
  return result;
}

TEST(Race, TheSameKernelIsSeldomFaster) {
  Dice dice(1);
  for (const double sigma : {0.002, 0.02}) {
    const Tally result = tally(
        1000, [&] { return dice.lognormal(1, sigma); }, 1);
    EXPECT_LT(result.faster, 10) << sigma;
    EXPECT_LT(result.slower, 10) << sigma;
    EXPECT_GT(result.tie + result.not_faster, 985) << sigma;
    EXPECT_LT(result.blocks, 20) << sigma;
  }
}

TEST(Race, FindsATrueGain) {
  Dice dice(2);
  const Tally result = tally(
      200, [&] { return dice.lognormal(1, 0.005); }, 1.02);
  EXPECT_EQ(result.faster, 200);
  EXPECT_LT(result.blocks, 8);
}

TEST(Race, EndsEarlyForClearLosers) {
  Dice dice(3);
  const Tally result = tally(
      200, [&] { return dice.lognormal(1, 0.01); }, 1 / 1.2);
  EXPECT_EQ(result.slower + result.not_faster, 200);
  EXPECT_GT(result.slower, 180);
  EXPECT_LT(result.blocks, 4.5);
}

// A series is ended when its kernel is slower, which takes a clear loser few blocks.
TEST(Race, AClearLoserIsSoonSlower) {
  Dice dice(22);
  double blocks = 0;
  for (int i = 0; i < 200; ++i) {
    Race race;
    while (race.verdict() != RaceVerdict::Slower && race.blocks() < 100) {
      add_block(
          race, [&] { return dice.lognormal(1, 0.03); }, 1200, 1000);
    }
    blocks += static_cast<double>(race.blocks()) / 200;
  }
  EXPECT_LT(blocks, 6);
}

void expect_agreement(const Race& race) {
  const Interval shown = race.interval();
  const RaceVerdict verdict = race.verdict();
  EXPECT_EQ(verdict == RaceVerdict::Tie, shown.low >= 0.995 && shown.high <= 1.005);
  if (verdict != RaceVerdict::Tie) {
    EXPECT_EQ(verdict == RaceVerdict::Faster, shown.low > 1) << shown.low;
    EXPECT_EQ(verdict == RaceVerdict::Slower, shown.high < 1) << shown.high;
  }
}

// Noise from a timer's ticks to that of a busy machine, from kernels half as fast to twice as fast.
TEST(Race, EveryVerdictAgreesWithItsInterval) {
  Dice dice(24);
  for (int i = 0; i < 2000; ++i) {
    const double sigma = std::exp(-8 + 7 * dice.uniform());
    const double tick = dice.uniform() < 0.3 ? 0.02 : 1e-9;
    const double outliers = dice.uniform() < 0.5 ? 0.1 : 0;
    const double gain = dice.uniform() < 0.3 ? 1 : std::exp(1.4 * (dice.uniform() - 0.5));
    const std::size_t shapes = dice.uniform() < 0.5 ? 1 : 3;
    Race race({.max_blocks = 12}, shapes);
    for (int block = 0; block < 12; ++block) {
      for (std::size_t shape = 0; shape < shapes; ++shape) {
        const Clock clock = [&] {
          const double time = dice.lognormal(dice.uniform() < outliers ? 1.4 : 1, sigma);
          return std::max(tick, std::round(time / tick) * tick);
        };
        add_block(race, clock, 1000 / gain, 1000, shape);
        expect_agreement(race);
      }
    }
    EXPECT_NE(race.verdict(), RaceVerdict::Undecided) << "all blocks are spent";
  }
}

TEST(Race, RatioAndIntervalHoldTheTruth) {
  Dice dice(4);
  int held = 0;
  for (int i = 0; i < 300; ++i) {
    const Race race = raced([&] { return dice.lognormal(1, 0.005); }, 1000, 1030);
    EXPECT_THAT(race.ratio().value(), DoubleNear(1.03, 0.02));
    held += race.interval().low <= 1.03 && 1.03 <= race.interval().high ? 1 : 0;
  }
  EXPECT_GE(held, 294);
}

TEST(Race, DriftCancels) {
  Dice dice(5);
  double speed = 1; // each launch is 0.1 % slower than the launch before
  const Tally result = tally(
      500, [&] { return dice.lognormal(1, 0.002) * (speed *= 1.001); }, 1);
  EXPECT_LT(result.faster + result.slower, 5);
  EXPECT_GT(result.tie + result.not_faster, 490);
}

TEST(Race, OutliersNeitherMakeNorHideAGain) {
  Dice dice(6);
  const Clock clock = [&] { return dice.lognormal(dice.uniform() < 0.02 ? 1.3 : 1, 0.005); };
  EXPECT_LT(tally(1000, clock, 1).faster, 10);
  EXPECT_GT(tally(300, clock, 1.02).faster, 294);
}

// Like a 5 us kernel on a GPU: noise of 2.6 %, and one launch in twelve takes some 13 % longer.
TEST(Race, ATailCostsFewBlocks) {
  Dice dice(21);
  const Clock clock = [&] { return dice.lognormal(dice.uniform() < 0.08 ? 1.13 : 1, 0.026); };
  const Tally gained = tally(500, clock, 1.03);
  EXPECT_GT(gained.faster, 475);
  EXPECT_LT(gained.blocks, 22.5);
  EXPECT_LT(tally(2000, clock, 1).faster, 20);
}

TEST(Race, TwoClocksNeitherMakeNorHideAGain) {
  Dice dice(7);
  bool slow = false;
  const Clock clock = [&] {
    slow = slow != (dice.uniform() < 0.01);
    return dice.lognormal(slow ? 1.05 : 1, 0.005);
  };
  EXPECT_LT(tally(1000, clock, 1).faster, 10);
  EXPECT_GT(tally(300, clock, 1.02).faster, 294);
}

TEST(Race, AutocorrelationDoesNotMakeAGain) {
  Dice dice(8);
  double last = 0;
  const Clock clock = [&] { return std::exp(last = 0.5 * last + 0.005 * dice.normal()); };
  EXPECT_LT(tally(1000, clock, 1).faster, 10);
}

// Like a short kernel on two busy cores: noise of 5 %, one launch in ten half as long again, and
// waves of some forty launches in which other programs slow everything down.
TEST(Race, WavesOfABusyMachineDecideNothing) {
  Dice dice(25);
  double wave = 1;
  const Clock clock = [&] {
    wave = dice.uniform() < 0.025 ? dice.lognormal(1, 0.2) : wave;
    return dice.lognormal(dice.uniform() < 0.1 ? 1.5 * wave : wave, 0.05);
  };
  const Tally result = tally(1000, clock, 1);
  EXPECT_LE(result.faster + result.slower, 10) << "1 % is what is printed";
}

TEST(Race, EqualTicksOfATimerAreNoProof) {
  Dice dice(9);
  const Clock clock = [&] { return std::round(dice.lognormal(1, 0.004) / 0.02 + 0.3) * 0.02; };
  EXPECT_LT(tally(1000, clock, 1).faster, 10);
}

TEST(Race, EqualConstantsTie) {
  const Race race = raced([] { return 1.0; }, 500, 500);
  EXPECT_EQ(race.verdict(), RaceVerdict::Tie);
  EXPECT_LE(race.blocks(), 4U);
  EXPECT_DOUBLE_EQ(race.ratio().value(), 1);
}

TEST(Race, DifferentConstantsDoNot) {
  EXPECT_EQ(raced([] { return 1.0; }, 500, 600).verdict(), RaceVerdict::Faster);
  EXPECT_EQ(raced([] { return 1.0; }, 600, 500).verdict(), RaceVerdict::Slower);
}

TEST(Race, NoiseDoesNotMakeATieOfWhatSeemsFarSlower) {
  Race race({}, 2); // times in us of a kernel seven times as slow, on a shared machine
  for (const auto& [challenger, other] :
       {std::pair{6336.0, 1195.0}, {5817.0, 808.0}, {7179.0, 977.0}}) {
    race.add(both(challenger), both(other), 0);
  }
  for (const auto& [challenger, other] :
       {std::pair{14199.0, 9282.0}, {17616.0, 1626.0}, {13797.0, 4037.0}}) {
    race.add(both(challenger), both(other), 1);
  }
  EXPECT_LT(race.ratio(), 0.3);
  EXPECT_GT(race.interval().high, 1);
  EXPECT_NE(race.verdict(), RaceVerdict::Tie);
  EXPECT_NE(race.verdict(), RaceVerdict::Slower);
}

TEST(Race, ADisturbedLaunchDoesNotCostItsBlock) {
  Dice dice(20);
  Race undisturbed, race;
  for (int i = 0; i < 12; ++i) {
    TwoLaunches challenger = {dice.lognormal(1000, 0.005), dice.lognormal(1000, 0.005)};
    const TwoLaunches other = {dice.lognormal(1020, 0.005), dice.lognormal(1020, 0.005)};
    undisturbed.add(challenger, other);
    challenger[0] *= i % 4 == 0 ? 1.5 : 1;
    race.add(challenger, other);
  }
  EXPECT_NEAR(race.ratio().value(), undisturbed.ratio().value(), 0.01)
      << "three of 24 launches took half as long again";
  EXPECT_LT(race.interval().high - race.interval().low, 0.06);
  EXPECT_EQ(race.verdict(), RaceVerdict::Faster);
}

TEST(Race, AGainInsideTheMarginIsATie) {
  Dice dice(10);
  RaceRules rules;
  rules.tie_margin = 0.02;
  const Race race = raced([&] { return dice.lognormal(1, 0.001); }, 1000, 1005, rules);
  EXPECT_EQ(race.verdict(), RaceVerdict::Tie);
}

TEST(Race, AllBlocksSpentShowsNothing) {
  RaceRules rules;
  rules.hopeless = 0; // the race is never given up
  rules.max_blocks = 12;
  Dice dice(11);
  const Race race = raced([&] { return dice.lognormal(1, 0.05); }, 1000, 1000, rules);
  EXPECT_EQ(race.verdict(), RaceVerdict::NotFaster);
  EXPECT_EQ(race.blocks(), 12U);
}

TEST(Race, KnowsNothingWithoutBlocks) {
  Race race;
  EXPECT_EQ(race.verdict(), RaceVerdict::Undecided);
  EXPECT_EQ(race.blocks(), 0U);
  EXPECT_FALSE(race.ratio());
  EXPECT_EQ(race.interval().low, 0);
  EXPECT_EQ(race.interval().high, kInfinity);
  race.add(both(100), both(200));
  EXPECT_EQ(race.verdict(), RaceVerdict::Undecided);
  EXPECT_DOUBLE_EQ(race.ratio().value(), 2);
  EXPECT_EQ(race.interval().high, kInfinity);
}

TEST(Race, HasNoRatioBeforeEachShapeHasABlock) {
  Race race({}, 2);
  race.add(both(100), both(400), 0);
  race.add(both(100), both(400), 0);
  EXPECT_FALSE(race.ratio());
  EXPECT_DOUBLE_EQ(race.ratio(0).value(), 4);
  EXPECT_FALSE(race.ratio(1));
  race.add(both(100), both(900), 1);
  EXPECT_DOUBLE_EQ(race.ratio().value(), 6) << "one block is enough for a ratio";
  EXPECT_EQ(race.interval().high, kInfinity);
}

TEST(Race, BadBlocksAreIgnored) {
  Race race({}, 0); // counts as one shape
  for (const double bad : {0.0, -5.0, kInfinity, std::nan("")}) {
    race.add({bad, 100}, both(100));
    race.add(both(100), {100, bad});
  }
  race.add(both(100), both(100), 1);
  EXPECT_EQ(race.blocks(), 0U);
  EXPECT_FALSE(race.ratio(7));
}

// A race over four shapes with different times, noise and gains. The shapes take turns.
Race raced_on_shapes(Dice& dice, const std::array<double, 4>& gains) {
  constexpr std::array kSigmas{0.002, 0.005, 0.01, 0.02};
  constexpr std::array kTimes{5e3, 1e6, 4e4, 2e5};
  Race race({}, kTimes.size());
  while (race.verdict() == RaceVerdict::Undecided) {
    for (std::size_t shape = 0; shape < kTimes.size(); ++shape) {
      add_block(
          race, [&] { return dice.lognormal(1, kSigmas.at(shape)); },
          kTimes.at(shape) / gains.at(shape), kTimes.at(shape), shape);
    }
  }
  return race;
}

TEST(Race, ShapesAreCombinedByTheirGeometricMean) {
  Dice dice(12);
  const Race race = raced_on_shapes(dice, {1.5, 1.02, 0.97, 1});
  EXPECT_EQ(race.verdict(), RaceVerdict::Faster);
  EXPECT_NEAR(race.ratio().value(), std::pow(1.5 * 1.02 * 0.97, 0.25), 0.02);
  EXPECT_NEAR(race.ratio(0).value(), 1.5, 0.02);
  EXPECT_EQ(race.blocks() % 4, 0U);
}

TEST(Race, ShapesOfTheSameKernelAreSeldomFaster) {
  Dice dice(13);
  int faster = 0;
  for (int i = 0; i < 1000; ++i) {
    faster += raced_on_shapes(dice, {1, 1, 1, 1}).verdict() == RaceVerdict::Faster ? 1 : 0;
  }
  EXPECT_LT(faster, 10);
}

TEST(Race, NothingIsDecidedBeforeEachShapeHadItsBlocks) {
  Dice dice(14);
  const Clock clock = [&] { return dice.lognormal(1, 0.001); };
  Race race({}, 2);
  for (int i = 0; i < 20; ++i) {
    add_block(race, clock, 900, 1000, 0);
  }
  EXPECT_EQ(race.verdict(), RaceVerdict::Undecided);
  for (int i = 0; i < 5; ++i) {
    add_block(race, clock, 900, 1000, 1);
  }
  EXPECT_EQ(race.verdict(), RaceVerdict::Faster);
}

} // namespace
} // namespace winnow::profiling
