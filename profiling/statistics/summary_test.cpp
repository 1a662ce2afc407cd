#include "profiling/statistics/order.h"
#include "profiling/statistics/summary.h"
#include "profiling/statistics/testing/noise_fake.h"

#include <algorithm>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::profiling {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kEndless = std::numeric_limits<double>::infinity();

TEST(Summary, KnownNumbers) {
  const auto summary = summarize(std::vector<double>{4, 1, 3, 2, 10});
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->count, 5U);
  EXPECT_DOUBLE_EQ(summary->median, 3);
  EXPECT_DOUBLE_EQ(summary->mean, 4);
  EXPECT_DOUBLE_EQ(summary->minimum, 1);
  EXPECT_DOUBLE_EQ(summary->maximum, 10);
  EXPECT_DOUBLE_EQ(summary->first_quartile, 2);
  EXPECT_DOUBLE_EQ(summary->third_quartile, 4);
}

TEST(Summary, OfEvenlyManyLiesBetween) {
  const auto summary = summarize(std::vector<double>{4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(summary->median, 2.5);
  EXPECT_DOUBLE_EQ(summary->first_quartile, 1.75);
}

TEST(Quantile, IsTheSameForAnyOrder) {
  std::vector<double> sorted, values;
  for (int count = 1; count <= 40; ++count) {
    values.push_back((count * 17) % 41 / 3.0);
    sorted = values;
    std::sort(sorted.begin(), sorted.end());
    for (const double share : {0.0, 0.025, 0.25, 0.5, 0.975, 1.0}) {
      std::vector<double> any_order = values;
      EXPECT_EQ(quantile_of(any_order, share), quantile_of_sorted(sorted, share)) << count;
    }
  }
}

TEST(Summary, WhatIsUnknownIsEmpty) {
  EXPECT_FALSE(summarize({}));
  EXPECT_FALSE(summarize(std::vector<double>{kNoNumber, kEndless}));
  const auto one = summarize(std::vector<double>{7});
  EXPECT_DOUBLE_EQ(one->median, 7);
}

TEST(Summary, LeavesOutWhatIsNotFinite) {
  const auto summary = summarize(std::vector<double>{1, kNoNumber, 3, -kEndless});
  EXPECT_EQ(summary->count, 2U);
  EXPECT_DOUBLE_EQ(summary->mean, 2);
}

// The textbook bootstrap, for comparison.
Interval resampled(const std::vector<double>& samples, double confidence) {
  Dice dice(5);
  std::vector<double> medians = series(20'000, [&] {
    std::vector<double> again = series(samples.size(), [&] {
      return samples[static_cast<std::size_t>(dice.uniform() *
                                              static_cast<double>(samples.size()))];
    });
    return summarize(again)->median;
  });
  std::sort(medians.begin(), medians.end());
  const double tail = (1 - confidence) / 2 * static_cast<double>(medians.size());
  return {medians[static_cast<std::size_t>(tail)],
          medians[medians.size() - 1 - static_cast<std::size_t>(tail)]};
}

TEST(Bootstrap, IsThatOfResampling) {
  for (const std::size_t count : {11U, 12U, 40U}) {
    Dice dice(count);
    const std::vector<double> samples = series(count, [&] { return 100 + 10 * dice.normal(); });
    const auto interval = bootstrap_median_interval(samples, 0.9);
    const Interval expected = resampled(samples, 0.9);
    ASSERT_TRUE(interval);
    EXPECT_NEAR(interval->low, expected.low, 0.6) << count;
    EXPECT_NEAR(interval->high, expected.high, 0.6) << count;
  }
}

TEST(Bootstrap, HoldsTheMedianAsOftenAsItSays) {
  Dice dice(3);
  int held = 0;
  for (int i = 0; i < 400; ++i) {
    const auto samples = series(50, [&] { return dice.lognormal(1000, 0.02); });
    const auto interval = bootstrap_median_interval(samples);
    held += interval->low <= 1000 && 1000 <= interval->high ? 1 : 0;
  }
  EXPECT_GE(held, 364); // 91 %; 95 % of the intervals should contain the value
  EXPECT_LE(held, 396);
}

TEST(Bootstrap, IsTheSameTwiceAndWiderForMoreConfidence) {
  Dice dice(1);
  const auto samples = series(31, [&] { return dice.lognormal(1000, 0.02); });
  const auto once = bootstrap_median_interval(samples), twice = bootstrap_median_interval(samples);
  EXPECT_EQ(once->low, twice->low);
  EXPECT_EQ(once->high, twice->high);
  const auto wider = bootstrap_median_interval(samples, 0.999);
  EXPECT_LT(wider->low, once->low);
  EXPECT_GT(wider->high, once->high);
  const auto even = series(400, [&] { return dice.lognormal(1000, 0.02); });
  EXPECT_NE(bootstrap_median_interval(even, 0.9995, 2)->low,
            bootstrap_median_interval(even, 0.9995, 3)->low);
}

// A coordinator computes again what a worker has computed, which may be an older Winnow.
TEST(Bootstrap, GivesTheIntervalsThatItHasAlwaysGiven) {
  struct Known {
    std::size_t count;
    double confidence, low, high;
  };
  for (const Known& known :
       {Known{6, 0.9, 1010.25, 1074.5}, Known{12, 0.95, 1015.375, 1071.25},
        Known{20, 0.95, 1027.5, 1071.25}, Known{20, 0.999, 1013.9990625, 1084.75},
        Known{31, 0.999, 1017.748125, 1074.5}, Known{400, 0.9, 1046.375, 1054.7562499999999},
        Known{5000, 0.999, 1047.9999375, 1053}}) {
    int i = 0;
    const auto samples = series(
        known.count, [&] { return 1000 + std::fmod(static_cast<double>(i++) * 37.25, 101.5); });
    const auto interval = bootstrap_median_interval(samples, known.confidence);
    ASSERT_TRUE(interval);
    EXPECT_EQ(interval->low, known.low) << known.count;
    EXPECT_EQ(interval->high, known.high) << known.count;
  }
}

TEST(Bootstrap, OfConstantsIsAPoint) {
  const std::vector<double> four(10, 4.0), two(9, 2.0);
  EXPECT_EQ(bootstrap_median_interval(four)->low, 4);
  EXPECT_EQ(bootstrap_median_interval(four)->high, 4);
  EXPECT_EQ(paired_ratio(four, two), 2);
  EXPECT_EQ(paired_ratio_interval(four, two)->high, 2);
}

TEST(Bootstrap, NeedsFiveSamples) {
  const std::vector<double> four{1, 2, 3, 4, kNoNumber}, five{1, 2, 3, 4, 5};
  EXPECT_FALSE(bootstrap_median_interval({}));
  EXPECT_FALSE(bootstrap_median_interval(four));
  EXPECT_TRUE(bootstrap_median_interval(five));
  EXPECT_FALSE(paired_ratio_interval(five, std::vector<double>{1, 2, 3, 4, 0}));
  EXPECT_FALSE(paired_ratio_interval(five, std::vector<double>{1, 2, 3, 4, -1}));
  EXPECT_FALSE(paired_ratio_interval(five, std::vector<double>{1, 2, 3, 4, kEndless}));
}

TEST(BootstrapOfMean, OfYesAndNoHasTheQuantilesOfTheBinomialDistribution) {
  std::vector<double> samples(20, 0);
  std::fill_n(samples.begin(), 10, 1);
  const auto interval = bootstrap_mean_interval(samples);
  ASSERT_TRUE(interval);
  EXPECT_DOUBLE_EQ(interval->low, 6 / 20.0) << "P(Binomial(20, 1/2) <= 5) = 0.0207";
  EXPECT_DOUBLE_EQ(interval->high, 14 / 20.0);
}

TEST(BootstrapOfMean, HoldsTheMeanAsOftenAsItSays) {
  Dice dice(5);
  int held = 0;
  for (int i = 0; i < 400; ++i) {
    const auto interval = bootstrap_mean_interval(series(50, [&] { return 3 + dice.normal(); }));
    held += interval->low <= 3 && 3 <= interval->high ? 1 : 0;
  }
  EXPECT_GE(held, 364); // 91 %; 95 % of the intervals should contain the value
  EXPECT_LE(held, 396);
}

TEST(BootstrapOfMean, IsTheSameTwiceAndOtherForAnotherSeed) {
  const std::vector<double> samples{1, 2.5, 3, 7, 11, 13.25, 2, 5};
  const auto first = bootstrap_mean_interval(samples), again = bootstrap_mean_interval(samples);
  EXPECT_EQ(first->low, again->low);
  EXPECT_EQ(first->high, again->high);
  const auto other = bootstrap_mean_interval(samples, kConfidence, 7);
  EXPECT_NE(first->low, other->low);
  EXPECT_NEAR(first->low, other->low, 0.5);
}

TEST(BootstrapOfMean, NeedsSixFiniteSamples) {
  EXPECT_FALSE(bootstrap_mean_interval({}));
  EXPECT_FALSE(bootstrap_mean_interval(std::vector<double>{1, 2, 3, 4, 5, kNoNumber, kEndless}));
  const auto point = bootstrap_mean_interval(std::vector<double>(6, 3));
  ASSERT_TRUE(point);
  EXPECT_EQ(point->low, 3);
  EXPECT_EQ(point->high, 3);
}

TEST(Bootstrap, PairsCancelWhatTheyShare) {
  Dice dice(8);
  std::vector<double> above, below;
  for (int i = 0; i < 60; ++i) {
    const double clock = 1 + 0.1 * dice.uniform();
    above.push_back(dice.lognormal(1030, 0.002) * clock);
    below.push_back(dice.lognormal(1000, 0.002) * clock);
  }
  const auto paired = paired_ratio_interval(above, below);
  const auto alone = bootstrap_median_interval(above);
  EXPECT_LT(paired->low, 1.03);
  EXPECT_GT(paired->high, 1.03);
  EXPECT_GT((alone->high - alone->low) / alone->low, 5 * (paired->high - paired->low));
  const double ratio = paired_ratio(above, below).value();
  EXPECT_NEAR(ratio, 1.03, 0.001);
  EXPECT_LE(paired->low, ratio);
  EXPECT_GE(paired->high, ratio);
}

TEST(Bimodal, TwoClocks) {
  Dice dice(2);
  int launch = 0;
  const auto two =
      series(60, [&] { return dice.lognormal(launch++ / 15 % 2 ? 1050 : 1000, 0.005); });
  EXPECT_TRUE(is_bimodal(two));
}

TEST(Bimodal, NotOneClock) {
  Dice dice(4);
  for (const std::size_t count : {24U, 50U, 200U}) {
    int said = 0;
    for (int i = 0; i < 300; ++i) {
      said += is_bimodal(series(count, [&] { return dice.lognormal(1000, 0.02); })) ? 1 : 0;
    }
    EXPECT_LE(said, 3) << count;
  }
}

TEST(Bimodal, NotAFewOutliersNorATimersSteps) {
  Dice dice(6);
  EXPECT_FALSE(is_bimodal(
      series(100, [&] { return dice.lognormal(dice.uniform() < 0.03 ? 1300 : 1000, 0.005); })));
  EXPECT_FALSE(is_bimodal(series(100, [&] { return dice.uniform() < 0.5 ? 5024 : 5056; })));
}

TEST(Bimodal, LittleOrNothing) {
  EXPECT_FALSE(is_bimodal({}));
  EXPECT_FALSE(is_bimodal(std::vector<double>{1, 2}));
  EXPECT_FALSE(is_bimodal(std::vector<double>(50, 3.0)));
  EXPECT_FALSE(is_bimodal(std::vector<double>(50, kNoNumber)));
  EXPECT_FALSE(is_bimodal(std::vector<double>(50, -1.0)));
}

TEST(Drift, FindsFivePercent) {
  Dice dice(7);
  double launch = 0;
  const auto found =
      drift(series(100, [&] { return dice.lognormal(1000 * (1 + 0.05 * launch++ / 99), 0.005); }));
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->significant);
  EXPECT_NEAR(found->relative_change, 0.05, 0.01);
}

TEST(Drift, FindsThemInLongSeriesToo) {
  Dice dice(7);
  double launch = 0;
  const auto found = drift(
      series(3000, [&] { return dice.lognormal(1000 * (1 - 0.03 * launch++ / 2999), 0.01); }));
  EXPECT_TRUE(found->significant);
  EXPECT_NEAR(found->relative_change, -0.03, 0.005);
}

TEST(Drift, SeldomWithoutOne) {
  Dice dice(9);
  int said = 0;
  for (int i = 0; i < 500; ++i) {
    said += drift(series(40, [&] { return dice.lognormal(1000, 0.01); }))->significant ? 1 : 0;
  }
  EXPECT_LE(said, 13); // 1 % expected
  EXPECT_GE(said, 1);
}

TEST(Drift, ExactOnALine) {
  const auto found = drift(std::vector<double>{10, 11, 12, 13, 14, 15});
  EXPECT_NEAR(found->relative_change, 5 / 12.5, 1e-12);
  EXPECT_NEAR(found->p_value, 0.00853, 1e-4); // S = 15, variance 28.33, continuity-corrected
}

TEST(Drift, OfConstantsAndOfLittle) {
  const auto none = drift(std::vector<double>(20, 5.0));
  EXPECT_EQ(none->relative_change, 0);
  EXPECT_EQ(none->p_value, 1);
  EXPECT_FALSE(none->significant);
  EXPECT_FALSE(drift({}));
  EXPECT_FALSE(drift(std::vector<double>{1, 2, 3, 4, kNoNumber, 0, -3}));
}

TEST(Outliers, AboveTheWhiskerOnly) {
  std::vector<double> samples{1, 100, 100, 101, 101, 102, 102, 103, 103, 130, kEndless};
  EXPECT_EQ(outliers(samples), 1U);
  EXPECT_EQ(outliers({}), 0U);
  EXPECT_EQ(outliers(std::vector<double>{5}), 0U);
  EXPECT_EQ(outliers(std::vector<double>(9, 5.0)), 0U);
}

} // namespace
} // namespace winnow::profiling
