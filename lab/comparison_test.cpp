#include "lab/comparison.h"
#include "lab/testing/landscape_fake.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::lab {
namespace {

Variant variant(const std::string& name) {
  return {name, search::preset(name).policy};
}

ComparisonPlan plan(std::size_t seeds, std::size_t calls) {
  ComparisonPlan plan;
  plan.seeds = seeds;
  plan.budget.calls = calls;
  return plan;
}

TEST(Estimate, HasTheIntervalOfStudent) {
  const std::array values{1.0, 2.0, 3.0, 4.0, 5.0};
  const Estimate known = estimate(values);
  EXPECT_DOUBLE_EQ(known.mean, 3);
  EXPECT_NEAR(known.high - 3, 2.7764 * 0.70711, 1e-3);
  EXPECT_NEAR(3 - known.low, 2.7764 * 0.70711, 1e-3);
}

TEST(Comparison, IsATieWithItself) {
  const Comparison comparison =
      compare(usual_landscape(), {variant("archive"), {"again", search::preset("archive").policy}},
              0, plan(5, 10));
  const Score& again = comparison.rows[1].by_calls;
  EXPECT_EQ(again.difference.low, 0);
  EXPECT_EQ(again.difference.high, 0);
  EXPECT_EQ(again.standing(), Standing::Tie);
  EXPECT_EQ(comparison.rows[0].final.own.mean, comparison.rows[1].final.own.mean);
}

TEST(Comparison, DoesNotDependOnTheCores) {
  const auto mean = [] {
    return compare(usual_landscape(), {variant("one-plus-one"), variant("archive")}, 0, plan(6, 8))
        .rows[1]
        .by_calls.difference.mean;
  };
  EXPECT_EQ(mean(), mean());
}

/// Two models that are equally good; one costs a twentieth.
Landscape cheap_and_dear() {
  Landscape landscape = usual_landscape();
  landscape.models = {{"dear", 0.4, 30}, {"cheap", 0.02, 30}};
  return landscape;
}

TEST(Comparison, PricesWinWhereOneModelIsCheaper) {
  // A lineage asks one model, the first; the archive's bandit learns the prices.
  const Comparison comparison =
      compare(cheap_and_dear(), {variant("one-plus-one"), variant("archive")}, 0, plan(30, 24));
  ASSERT_TRUE(comparison.rows[1].by_dollars);
  EXPECT_EQ(comparison.rows[1].by_dollars->standing(), Standing::Ahead);
  EXPECT_LT(comparison.rows[1].dollars, comparison.rows[0].dollars);
}

TEST(Comparison, WithoutPricesHasNoDollars) {
  Landscape free = usual_landscape();
  free.models.front().dollars = 0;
  const Comparison comparison = compare(free, {variant("archive")}, 0, plan(6, 12));
  EXPECT_FALSE(comparison.rows[0].by_dollars);
  EXPECT_GT(comparison.rows[0].by_device.own.mean, 0);
}

TEST(Comparison, GainsOfDeepSearchesShow) {
  // First kernels are poor and improvements sure: calls that build on one another win.
  Landscape deep = usual_landscape();
  deep.gains.first_share = 0.05;
  deep.gains.improves = 1;
  deep.gains.hardness = 0;
  const Comparison comparison =
      compare(deep, {variant("best-of-n"), variant("one-plus-one")}, 0, plan(30, 20));
  EXPECT_EQ(comparison.rows[1].by_calls.standing(), Standing::Ahead);
  EXPECT_EQ(comparison.rows[1].final.standing(), Standing::Ahead);
}

TEST(Comparison, EffectsOfPromptsAreNeutralUnlessTheDataSaySo) {
  Landscape helped = usual_landscape();
  helped.effects.failures = 3;
  const auto final_of = [](const Landscape& landscape) {
    return compare(landscape, {variant("archive")}, 0, plan(20, 20)).rows[0].final.own.mean;
  };
  EXPECT_GT(final_of(helped), final_of(usual_landscape()));
}

} // namespace
} // namespace winnow::lab
