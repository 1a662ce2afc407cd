#include "harness/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

agents::Usage usage(std::int64_t prompt, std::int64_t completion) {
  agents::Usage result;
  result.prompt_tokens = prompt;
  result.completion_tokens = completion;
  return result;
}

TEST(Budget, CallsInFlightCount) {
  Budget budget({.calls = 2}, {});
  EXPECT_FALSE(budget.reserve("a", {}));
  EXPECT_FALSE(budget.reserve("b", {}));
  EXPECT_EQ(budget.reserve("c", {}), "limits.calls = 2");
  budget.release("b"); // cancelled, unpaid
  EXPECT_FALSE(budget.reserve("c", {}));
  budget.settle("a", usage(1, 1), 0.0);
  budget.settle("c", usage(1, 1), 0.0);
  EXPECT_EQ(budget.reserve("d", {}), "limits.calls = 2");
}

TEST(Budget, CallsOfEarlierSessionsCount) {
  Budget budget({.calls = 1}, {});
  budget.settle("a", usage(10, 5), 0.25);
  EXPECT_EQ(budget.spent().tokens, 15);
  EXPECT_DOUBLE_EQ(budget.spent().dollars, 0.25);
  EXPECT_TRUE(budget.reserve("b", {}));
}

TEST(Budget, TokensInFlightAreHeldBack) {
  agents::EndpointConfig endpoint;
  endpoint.max_output_tokens = 100;
  Budget budget({.tokens = 250}, endpoint);
  const CallEstimate estimate = budget.estimate(60); // 21 + 100 tokens
  EXPECT_EQ(estimate.tokens, 121);
  EXPECT_FALSE(budget.reserve("a", estimate));
  EXPECT_FALSE(budget.reserve("b", estimate));
  EXPECT_EQ(budget.reserve("c", estimate), "limits.tokens = 250");
  budget.settle("a", usage(20, 10), std::nullopt); // it was shorter than feared
  EXPECT_TRUE(budget.reserve("c", {.tokens = 100}));
  EXPECT_FALSE(budget.reserve("c", {.tokens = 99}));
}

TEST(Budget, DollarsInFlightAreHeldBack) {
  agents::EndpointConfig endpoint;
  endpoint.max_output_tokens = 1'000'000;
  endpoint.dollars_per_million_input = 1;
  endpoint.dollars_per_million_output = 2;
  Budget budget({.dollars = 5}, endpoint);
  const CallEstimate estimate = budget.estimate(0);
  EXPECT_NEAR(estimate.dollars, 2.0, 1e-5);
  EXPECT_FALSE(budget.reserve("a", estimate));
  EXPECT_FALSE(budget.reserve("b", estimate));
  EXPECT_EQ(budget.reserve("c", estimate), "limits.dollars = 5");
}

TEST(Budget, RecordedDollarsStopAReplay) {
  Budget budget({.dollars = 0.5}, {});
  budget.settle("a", usage(1, 1), 0.5);
  EXPECT_EQ(budget.reserve("b", budget.estimate(10)), "limits.dollars = 0.5");
}

TEST(Budget, LearnsHowLongRepliesAre) {
  Budget budget({}, {});
  const std::int64_t before = budget.estimate(0).tokens;
  budget.settle("a", usage(0, 50'000), std::nullopt);
  EXPECT_EQ(budget.estimate(0).tokens, 50'001);
  EXPECT_LT(before, 50'001);
  EXPECT_EQ(budget.spent().unpriced_calls, 1);
}

TEST(Budget, NoLimitMeansNone) {
  Budget budget({}, {});
  for (int i = 0; i < 1000; ++i) {
    ASSERT_FALSE(budget.reserve(std::to_string(i), {.tokens = 1 << 30, .dollars = 1e6}));
  }
}

} // namespace
} // namespace winnow::harness
