// The bins of forecasts, their scores, and forecasts without a model.
#include "search/forecast_account.h"
#include "search/speed_neighbours.h"

#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::search {
namespace {

using testing::HasSubstr;

SpeedChances sure_of(std::size_t bin) {
  SpeedChances chances{};
  chances.at(bin) = 1;
  return chances;
}

SpeedChances uniform() {
  SpeedChances chances{};
  chances.fill(1.0 / kSpeedBins);
  return chances;
}

TEST(SpeedBins, EachEdgeBelongsToTheFasterBin) {
  EXPECT_EQ(speed_bin(0), 0U);
  EXPECT_EQ(speed_bin(0.49), 0U);
  EXPECT_EQ(speed_bin(0.5), 1U);
  EXPECT_EQ(speed_bin(1), 4U);
  EXPECT_EQ(speed_bin(1.03), 5U);
  EXPECT_EQ(speed_bin(1e9), 8U);
}

TEST(SpeedBins, ChancesAboveARatioDivideABinByItsLogarithm) {
  EXPECT_DOUBLE_EQ(chance_above(sure_of(7), 1.25), 1);
  EXPECT_DOUBLE_EQ(chance_above(sure_of(7), 2), 0);
  EXPECT_NEAR(chance_above(sure_of(7), std::sqrt(1.25 * 2)), 0.5, 1e-12);
  EXPECT_DOUBLE_EQ(chance_above(sure_of(8), 2), 1);
  EXPECT_DOUBLE_EQ(chance_above(sure_of(8), 4), 0.5);
  EXPECT_DOUBLE_EQ(chance_above(sure_of(8), 16), 0.125);
  EXPECT_DOUBLE_EQ(chance_above(sure_of(0), 0), 1);
  EXPECT_DOUBLE_EQ(chance_above(sure_of(0), 0.25), 0.5);
  EXPECT_DOUBLE_EQ(chance_above(sure_of(0), 0.5), 0);
  EXPECT_NEAR(chance_above(uniform(), 1.03), 4.0 / 9, 1e-12);
}

TEST(SpeedBins, TheScoreIsThatOfAHandCount) {
  EXPECT_DOUBLE_EQ(ranked_probability_score(sure_of(4), 4), 0);
  EXPECT_DOUBLE_EQ(ranked_probability_score(sure_of(0), 8), 1);
  EXPECT_DOUBLE_EQ(ranked_probability_score(sure_of(4), 5), 1.0 / 8) << "one edge is between them";
  SpeedChances halves{};
  halves[3] = halves[5] = 0.5;
  EXPECT_DOUBLE_EQ(ranked_probability_score(halves, 4), (0.25 + 0.25) / 8);
  // All bins alike, and the first one measured: the errors are 8/9, 7/9, ... 1/9.
  EXPECT_NEAR(ranked_probability_score(uniform(), 0), 204.0 / 81 / 8, 1e-12);
}

TEST(SpeedNeighbours, KnowNothingWithoutData) {
  for (const double chance : SpeedNeighbours().chances({{"registers", 32}})) {
    EXPECT_DOUBLE_EQ(chance, 1.0 / 9);
  }
}

TEST(SpeedNeighbours, WeighLikeKernelsMoreByAClosedForm) {
  SpeedNeighbours neighbours;
  neighbours.add({{"registers", 32}}, 2);
  neighbours.add({{"registers", 64}}, 6);
  const SpeedChances chances = neighbours.chances({{"registers", 32}});
  // The variance is 32^2 / 2, so d^2 is 0 and 2: the weights are 1 and 1 / e.
  const double near = 1, far = std::exp(-1.0), all = 1 + near + far;
  const double overall = (1 + 1.0 / 9) / 3; // a kernel in the bin, and a ninth of one more
  EXPECT_NEAR(chances[2], (near + overall) / all, 1e-12);
  EXPECT_NEAR(chances[6], (far + overall) / all, 1e-12);
  EXPECT_NEAR(chances[0], (1.0 / 9 / 3) / all, 1e-12);
  EXPECT_NEAR(std::accumulate(chances.begin(), chances.end(), 0.0), 1, 1e-12);
}

TEST(SpeedNeighbours, FactsThatNobodyElseHasAndFactsThatNeverVarySayNothing) {
  SpeedNeighbours neighbours;
  neighbours.add({{"launches", 1}, {"registers", 32}}, 2);
  neighbours.add({{"launches", 1}, {"registers", 64}}, 6);
  EXPECT_EQ(neighbours.chances({{"launches", 7}, {"spills", 3}}), neighbours.chances({}));
  EXPECT_EQ(neighbours.chances({{"launches", 1}, {"registers", 32}}),
            neighbours.chances({{"registers", 32}}));
}

TEST(SpeedNeighbours, LearnWhatAFactIsWorth) {
  SpeedNeighbours neighbours;
  for (int i = 0; i < 20; ++i) {
    neighbours.add({{"spills", i % 2}}, i % 2 == 0 ? 6 : 1);
  }
  EXPECT_GT(chance_above(neighbours.chances({{"spills", 0}}), 1), 0.7);
  EXPECT_LT(chance_above(neighbours.chances({{"spills", 1}}), 1), 0.3);
}

TEST(ForecastAccountTest, IsOffAfterTheTrialIfForecastsAreNoBetter) {
  ForecastAccount account;
  for (int i = 0; i < kForecastTrial - 1; ++i) {
    account.add({"k", 1, 0.5, 0.1, 0, false, false});
  }
  EXPECT_EQ(account.why_off(), "") << "the trial is not over";
  account.add({"k", 1, 0.5, 0.1, 0, false, false});
  EXPECT_THAT(account.why_off(), HasSubstr("8 measured forecasts is 0.5000; without a model it is "
                                           "0.1000"));
  for (int i = 0; i < 8 * kForecastTrial; ++i) {
    account.add({"k", 1, 0.04, 0.1, 0, false, false});
  }
  EXPECT_EQ(account.why_off(), "");
}

} // namespace
} // namespace winnow::search
