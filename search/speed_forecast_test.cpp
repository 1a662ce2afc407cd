#include "search/speed_forecast.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::search {
namespace {

/// All choices of two parameters of four values each.
std::vector<Trial> grid() {
  std::vector<Trial> trials;
  for (std::int64_t i = 0; i < 16; ++i) {
    trials.push_back({{{"A", 1 << (i / 4)}, {"B", i % 4}}});
  }
  return trials;
}

TEST(SpeedForecast, NeighbouringValuesAreAlike) {
  const ChoiceSpace space(grid());
  EXPECT_DOUBLE_EQ(space.likeness(5, 5), 1);
  EXPECT_GT(space.likeness(0, 4), space.likeness(0, 8)) << "A: 1 and 2, 1 and 4";
  EXPECT_GT(space.likeness(0, 1), space.likeness(0, 5)) << "one parameter differs, both differ";
  EXPECT_DOUBLE_EQ(space.likeness(0, 4), space.likeness(0, 1)) << "the rank of a value counts";
}

TEST(SpeedForecast, ASpreadSampleHasEveryValueAndNoChoiceTwice) {
  const ChoiceSpace space(grid());
  const std::vector<std::size_t> spread = space.spread(6);
  const std::set<std::size_t> different(spread.begin(), spread.end());
  EXPECT_EQ(different.size(), 6U);
  EXPECT_FALSE(different.contains(0)) << "the default is in every heat";
  std::set<std::size_t> a, b;
  for (const std::size_t one : spread) {
    a.insert(one / 4);
    b.insert(one % 4);
  }
  EXPECT_EQ(a.size(), 4U);
  EXPECT_EQ(b.size(), 4U);
  EXPECT_EQ(space.spread(100).size(), 15U);
}

TEST(SpeedForecast, CombinesTheBestValuesOfBothParameters) {
  std::vector<Trial> trials = grid();
  const std::vector<std::size_t> tried{0, 1, 2, 4, 7, 8, 13};
  for (const std::size_t one : tried) {
    trials[one].speeds = {(1 + double(one / 4)) * (1 + 0.5 * double(one % 4))};
  }
  const std::vector<double> speeds = forecast_speeds(ChoiceSpace(trials), trials, tried);
  EXPECT_GT(speeds[15], speeds[12]);
  EXPECT_GT(speeds[15], speeds[3]);
  EXPECT_GT(speeds[10], speeds[5]);
}

TEST(SpeedForecast, AChoiceThatFailedIsSlow) {
  std::vector<Trial> trials = grid();
  trials[0].speeds = {1};
  trials[15].speeds = {0.5};
  trials[5].verdict = tasks::Verdict::LaunchError;
  const std::vector<double> speeds = forecast_speeds(ChoiceSpace(trials), trials, {0, 5, 15});
  EXPECT_LT(speeds[5], speeds[0]);
  EXPECT_LT(speeds[6], speeds[3]) << "its neighbours are suspect";
}

} // namespace
} // namespace winnow::search
