#include "agents/http/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using State = EndpointHealth::State;

const Gate::Time kStart = Gate::Time{} + 1h;

GateLimits limits(int parallel) {
  GateLimits chosen;
  chosen.parallel = parallel;
  return chosen;
}

bool open(const Gate& gate, Gate::Time now, std::int64_t tokens = 0) {
  const auto time = gate.opens(now, tokens);
  return time && *time <= now;
}

void fail(Gate& gate, Gate::Time now, int times) {
  for (int i = 0; i < times; ++i) {
    gate.sent(now, 0);
    gate.ended(now, Gate::End::Failed, 0ms, "HTTP 503");
  }
}

TEST(Gate, LimitsRequestsInFlight) {
  Gate gate(limits(2));
  gate.sent(kStart, 0);
  EXPECT_TRUE(open(gate, kStart));
  gate.sent(kStart, 0);
  EXPECT_EQ(gate.opens(kStart, 0), std::nullopt);
  gate.ended(kStart, Gate::End::Answered, 0ms, "");
  EXPECT_TRUE(open(gate, kStart));
}

TEST(Gate, LimitsRequestsAMinute) {
  GateLimits chosen = limits(1000);
  chosen.requests_per_minute = 60;
  Gate gate(chosen);
  int sent = 0;
  for (Gate::Time now = kStart; now < kStart + 60s; now += 100ms) {
    while (open(gate, now)) {
      gate.sent(now, 0);
      ++sent;
    }
  }
  EXPECT_GE(sent, 60);
  EXPECT_LE(sent, 66); // at once a tenth of a minute's requests, then one per second
}

TEST(Gate, LimitsTokensAMinuteAndTakesBackWhatWasNotUsed) {
  GateLimits chosen = limits(1000);
  chosen.tokens_per_minute = 6000;
  Gate gate(chosen);
  ASSERT_TRUE(open(gate, kStart, 100'000)) << "one that is larger than the limit still goes";
  gate.sent(kStart, 1200);
  EXPECT_EQ(gate.opens(kStart, 600).value() - kStart, 12s);
  gate.used(1200, 600);
  EXPECT_EQ(gate.opens(kStart, 600).value() - kStart, 6s);
}

TEST(Gate, PausesForAllWhenOneIsRefusedAndComesBackSlowly) {
  Gate gate(limits(8));
  for (int i = 0; i < 8; ++i) {
    gate.sent(kStart, 0);
  }
  for (int i = 0; i < 8; ++i) {
    gate.ended(kStart, Gate::End::Limited, 20s, "HTTP 429");
  }
  EXPECT_EQ(gate.opens(kStart, 0).value() - kStart, 20s);
  EXPECT_EQ(gate.health(kStart).state, State::Limited);
  EXPECT_THAT(gate.health(kStart).why, HasSubstr("waiting 20 s"));
  const Gate::Time later = kStart + 20s;
  int in_flight = 0;
  while (open(gate, later)) {
    gate.sent(later, 0);
    ++in_flight;
  }
  EXPECT_EQ(in_flight, 4) << "eight refusals at once count as one";
  for (int i = 0; i < 4; ++i) {
    gate.ended(later, Gate::End::Answered, 0ms, "");
  }
  for (in_flight = 0; open(gate, later); ++in_flight) {
    gate.sent(later, 0);
  }
  EXPECT_EQ(in_flight, 4); // 4 + 4 * (at most 1/4)
}

TEST(Gate, OpensTheCircuitAfterFailuresInARowAndTriesOneAtATime) {
  Gate gate(limits(4));
  fail(gate, kStart, 4);
  EXPECT_FALSE(gate.down());
  EXPECT_EQ(gate.health(kStart).state, State::Degraded);
  fail(gate, kStart, 1);
  ASSERT_TRUE(gate.down());
  EXPECT_EQ(gate.health(kStart).state, State::Down);
  EXPECT_THAT(gate.health(kStart).why, HasSubstr("HTTP 503; next try in 5 s"));
  EXPECT_EQ(gate.opens(kStart, 0).value() - kStart, 5s);

  const Gate::Time first_try = kStart + 5s;
  ASSERT_TRUE(open(gate, first_try));
  gate.sent(first_try, 0);
  EXPECT_EQ(gate.opens(first_try, 0), std::nullopt) << "one at a time";
  gate.ended(first_try, Gate::End::Failed, 0ms, "HTTP 503");
  EXPECT_EQ(gate.opens(first_try, 0).value() - first_try, 10s) << "the rest doubles";

  const Gate::Time second_try = first_try + 10s;
  gate.sent(second_try, 0);
  gate.ended(second_try, Gate::End::Answered, 0ms, "");
  EXPECT_FALSE(gate.down());
  EXPECT_EQ(gate.health(second_try).state, State::Ok);
  EXPECT_TRUE(open(gate, second_try));
}

TEST(Gate, ASuccessBetweenFailuresKeepsTheCircuitClosed) {
  Gate gate(limits(4));
  for (int i = 0; i < 10; ++i) {
    fail(gate, kStart, 4);
    gate.sent(kStart, 0);
    gate.ended(kStart, Gate::End::Answered, 0ms, "");
  }
  EXPECT_FALSE(gate.down());
}

TEST(Gate, ACancelledTryLeavesTheCircuitOpen) {
  Gate gate(limits(4));
  fail(gate, kStart, 5);
  gate.sent(kStart + 5s, 0);
  gate.ended(kStart + 5s, Gate::End::Cancelled, 0ms, "");
  EXPECT_TRUE(gate.down());
  EXPECT_TRUE(open(gate, kStart + 5s));
}

TEST(Gate, GivesUpAnEndpointThatStaysDown) {
  GateLimits chosen = limits(4);
  chosen.outage = 60s;
  Gate gate(chosen);
  fail(gate, kStart, 5);
  EXPECT_FALSE(gate.given_up(kStart + 59s));
  EXPECT_TRUE(gate.given_up(kStart + 60s));
}

} // namespace
} // namespace winnow::agents
