#include "harness/run/state/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

agents::ModelReply reply(std::int64_t prompt, std::int64_t completion,
                         std::optional<double> dollars = std::nullopt) {
  agents::ModelReply result;
  result.usage.prompt_tokens = prompt;
  result.usage.completion_tokens = completion;
  result.dollars = dollars;
  return result;
}

agents::Price price(double input, double output) {
  agents::Price result;
  result.input = input;
  result.output = output;
  return result;
}

TEST(Budget, CallsInFlightCount) {
  Budget budget({.calls = 2});
  EXPECT_FALSE(budget.reserve("a", {}));
  EXPECT_FALSE(budget.reserve("b", {}));
  EXPECT_EQ(budget.reserve("c", {}), "limits.calls = 2");
  budget.release("b"); // refused at no cost
  EXPECT_FALSE(budget.reserve("c", {}));
  budget.settle("a", reply(1, 1, 0.0));
  budget.settle("c", reply(1, 1, 0.0));
  EXPECT_EQ(budget.reserve("d", {}), "limits.calls = 2");
}

TEST(Budget, CallsOfEarlierSessionsCount) {
  Budget budget({.calls = 1});
  budget.settle("a", reply(10, 5, 0.25));
  EXPECT_EQ(budget.spent().tokens, 15);
  EXPECT_DOUBLE_EQ(budget.spent().dollars, 0.25);
  EXPECT_TRUE(budget.reserve("b", {}));
}

TEST(Budget, TokensInFlightAreHeldBack) {
  Budget budget({.tokens = 250});
  const CallEstimate estimate = budget.estimate(60, {std::nullopt, 100}); // 21 + 100 tokens
  EXPECT_EQ(estimate.tokens, 121);
  EXPECT_FALSE(budget.reserve("a", estimate));
  EXPECT_FALSE(budget.reserve("b", estimate));
  EXPECT_EQ(budget.reserve("c", estimate), "limits.tokens = 250");
  budget.settle("a", reply(20, 10)); // the reply was shorter than estimated
  EXPECT_TRUE(budget.reserve("c", {.tokens = 100}));
  EXPECT_FALSE(budget.reserve("c", {.tokens = 99}));
}

TEST(Budget, DollarsInFlightAreHeldBack) {
  Budget budget({.dollars = 5});
  const CallEstimate estimate = budget.estimate(0, {price(1, 2), 1'000'000});
  EXPECT_NEAR(estimate.dollars, 2.0, 1e-5);
  EXPECT_FALSE(budget.reserve("a", estimate));
  EXPECT_FALSE(budget.reserve("b", estimate));
  EXPECT_EQ(budget.reserve("c", estimate), "limits.dollars = 5");
}

TEST(Budget, TheEstimateIsTheMostThatACallCanCost) {
  agents::Price tiered = price(1, 2);
  tiered.cache_write = 1.25;
  tiered.tiers = {{1000, 10, 20, std::nullopt, std::nullopt}};
  const Budget budget{Limits{}};
  const CallTerms terms{tiered, 100};
  EXPECT_NEAR(budget.estimate(2997, terms).dollars, (1000 * 1.25 + 100 * 2) / 1e6, 1e-12);
  EXPECT_NEAR(budget.estimate(3000, terms).dollars, (1001 * 10 + 100 * 20) / 1e6, 1e-12);
}

TEST(Budget, RecordedDollarsStopAReplay) {
  Budget budget({.dollars = 0.5});
  budget.settle("a", reply(1, 1, 0.5));
  EXPECT_EQ(budget.reserve("b", budget.estimate(10, {})), "limits.dollars = 0.5");
}

TEST(Budget, WhatWasCutOffMayBeBilled) {
  Budget budget({.calls = 3, .tokens = 300, .dollars = 3});
  EXPECT_FALSE(budget.reserve("a", {100, 1.0}));
  budget.cut_off("a");
  budget.cut_off("never reserved");
  EXPECT_EQ(budget.spent().calls, 0) << "the call itself will be made again";
  EXPECT_EQ(budget.spent().tokens, 0);
  EXPECT_EQ(budget.spent().unconfirmed.requests, 1);
  EXPECT_EQ(budget.spent().unconfirmed.tokens, 100);
  EXPECT_DOUBLE_EQ(budget.spent().unconfirmed.dollars, 1);
  EXPECT_EQ(budget.reserve("b", {201, 0.0}), "limits.tokens = 300");
  EXPECT_EQ(budget.reserve("b", {0, 2.01}), "limits.dollars = 3");
  EXPECT_FALSE(budget.reserve("b", {200, 2.0}));
}

TEST(Budget, WhatEarlierSessionsCutOffMayBeBilledToo) {
  Budget budget({.calls = 1, .tokens = 300, .dollars = 3});
  budget.add_unconfirmed({5, 250, 2.5});
  EXPECT_EQ(budget.reserve("b", {51, 0.0}), "limits.tokens = 300");
  EXPECT_EQ(budget.reserve("b", {0, 0.51}), "limits.dollars = 3");
  EXPECT_FALSE(budget.reserve("b", {50, 0.5})) << "limits.calls does not count them";
}

TEST(Budget, EstimatedCostsCountAgainstTheLimits) {
  Budget budget({.tokens = 300, .dollars = 3});
  agents::ModelReply broken = reply(10, 20, 0.5);
  broken.estimated = {2, 150, 1.0};
  EXPECT_FALSE(budget.reserve("a", {100, 1.0}));
  budget.settle("a", broken);
  EXPECT_EQ(budget.spent().tokens, 30) << "measured";
  EXPECT_EQ(budget.spent().unconfirmed.requests, 2);
  EXPECT_EQ(budget.spent().unconfirmed.tokens, 150);
  EXPECT_FALSE(budget.reserve("b", {1, 0.1}));
  budget.cut_off("b", {1, 20, 0.25});
  EXPECT_EQ(budget.reserve("c", {101, 0.0}), "limits.tokens = 300");
  EXPECT_EQ(budget.reserve("c", {0, 1.26}), "limits.dollars = 3");
  EXPECT_FALSE(budget.reserve("c", {100, 1.25}));
}

TEST(Budget, RepliesFromTheRecordCostNothing) {
  Budget budget({.tokens = 100, .dollars = 1});
  const CallTerms terms{price(1, 1), 10};
  agents::ModelReply recorded = reply(1000, 1000, 0.0);
  recorded.served_from = 7;
  EXPECT_FALSE(budget.reserve("a", budget.estimate(30, terms)));
  budget.settle("a", recorded);
  EXPECT_EQ(budget.spent().calls, 1);
  EXPECT_EQ(budget.spent().calls_from_record, 1);
  EXPECT_EQ(budget.spent().tokens, 0);
  EXPECT_EQ(budget.spent().unpriced_calls, 0);
  EXPECT_FALSE(budget.reserve("b", budget.estimate(30, terms)));
}

TEST(Budget, LearnsHowLongRepliesAre) {
  Budget budget{Limits{}};
  const std::int64_t before = budget.estimate(0, {}).tokens;
  budget.settle("a", reply(0, 50'000));
  EXPECT_EQ(budget.estimate(0, {}).tokens, 50'001);
  EXPECT_LT(before, 50'001);
  EXPECT_EQ(budget.spent().unpriced_calls, 1);
}

TEST(Budget, KnowsWhenALimitIsSmallerThanOneCall) {
  Budget budget({.tokens = 100, .dollars = 1});
  EXPECT_TRUE(budget.allows_one({100, 1}));
  EXPECT_FALSE(budget.allows_one({101, 0}));
  EXPECT_FALSE(budget.allows_one({1, 1.01}));
  budget.settle("a", reply(50, 50, 1));
  EXPECT_TRUE(budget.allows_one({100, 1})) << "what is spent does not matter";
  EXPECT_TRUE(Budget(Limits{}).allows_one({1 << 30, 1e6}));
}

TEST(Budget, EachModelHasItsOwnPrice) {
  Budget budget({.dollars = 1});
  const CallEstimate dear = budget.estimate(0, {price(10, 10), 80'000});
  EXPECT_FALSE(budget.reserve("a", dear));
  EXPECT_TRUE(budget.reserve("b", dear));
  EXPECT_FALSE(budget.reserve("b", budget.estimate(0, {price(1, 1), 80'000})));
}

TEST(Budget, NoLimitMeansNone) {
  Budget budget{Limits{}};
  for (int i = 0; i < 1000; ++i) {
    ASSERT_FALSE(budget.reserve(std::to_string(i), {.tokens = 1 << 30, .dollars = 1e6}));
  }
}

} // namespace
} // namespace winnow::harness
