#include "agents/http/retry.h"

#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::optional<milliseconds> delay_for_status(long status, double random = 0) {
  FailedAttempt failed;
  failed.status = status;
  return retry_delay({}, failed, random);
}

TEST(Retry, RetriesWhatMayPass) {
  for (const long status : {408L, 409L, 429L, 500L, 502L, 503L, 529L}) {
    EXPECT_TRUE(delay_for_status(status)) << status;
  }
  for (const long status : {200L, 301L, 400L, 401L, 402L, 403L, 404L, 413L, 422L}) {
    EXPECT_FALSE(delay_for_status(status)) << status;
  }
  FailedAttempt transport;
  transport.transport = true;
  EXPECT_TRUE(retry_delay({}, transport, 0));
}

TEST(Retry, NeverRetriesWithoutMoney) {
  FailedAttempt failed;
  failed.status = 429;
  failed.out_of_money = true;
  failed.should_retry = true;
  EXPECT_FALSE(retry_delay({}, failed, 0));
}

TEST(Retry, ObeysTheEndpointsOwnWord) {
  FailedAttempt failed;
  failed.status = 500;
  failed.should_retry = false;
  EXPECT_FALSE(retry_delay({}, failed, 0));
  failed.status = 400;
  failed.should_retry = true;
  EXPECT_TRUE(retry_delay({}, failed, 0));
}

TEST(Retry, DoublesWithJitterUpToTheCapAndEnds) {
  RetryPolicy policy;
  policy.max_attempts = 20;
  FailedAttempt failed;
  failed.status = 500;
  EXPECT_EQ(retry_delay(policy, failed, 0), milliseconds(500));
  EXPECT_EQ(retry_delay(policy, failed, 1), milliseconds(375));
  failed.attempt = 3;
  EXPECT_EQ(retry_delay(policy, failed, 0), milliseconds(2000));
  failed.attempt = 19;
  EXPECT_EQ(retry_delay(policy, failed, 0), milliseconds(30000));
  failed.attempt = 20;
  EXPECT_FALSE(retry_delay(policy, failed, 0));
}

TEST(Retry, WaitsAtLeastAsLongAsAskedButNotForever) {
  FailedAttempt failed;
  failed.status = 429;
  failed.asked_for = seconds(10);
  EXPECT_EQ(retry_delay({}, failed, 0), seconds(10));
  EXPECT_EQ(retry_delay({}, failed, 1), milliseconds(12500));
  failed.asked_for = seconds(3600);
  EXPECT_FALSE(retry_delay({}, failed, 0));
  failed.asked_for = seconds(0);
  EXPECT_EQ(retry_delay({}, failed, 0), milliseconds(500)) << "nothing asked for";
}

TEST(Retry, ReadsEveryFormOfRetryAfter) {
  constexpr std::time_t kNow = 784111777; // Sun, 06 Nov 1994 08:49:37 GMT
  EXPECT_EQ(requested_delay({{"retry-after-ms", "250"}, {"retry-after", "9"}}, kNow),
            milliseconds(250));
  EXPECT_EQ(requested_delay({{"retry-after", "2"}}, kNow), seconds(2));
  EXPECT_EQ(requested_delay({{"retry-after", "0.5"}}, kNow), milliseconds(500));
  EXPECT_EQ(requested_delay({{"retry-after", "Sun, 06 Nov 1994 08:49:57 GMT"}}, kNow), seconds(20));
  EXPECT_EQ(requested_delay({{"retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"}}, kNow), seconds(0))
      << "in the past";
  EXPECT_FALSE(requested_delay({{"retry-after", "soon"}}, kNow));
  EXPECT_FALSE(requested_delay({{"retry-after", "-3"}}, kNow));
  EXPECT_FALSE(requested_delay({{"retry-after", "nan"}}, kNow));
  EXPECT_FALSE(requested_delay({}, kNow));
}

// The clock of this machine may be hours off, or change while the answer is on its way.
TEST(Retry, CountsADateFromTheAnswersOwnClock) {
  const std::map<std::string, std::string> headers{
      {"date", "Sun, 06 Nov 1994 08:49:37 GMT"}, {"retry-after", "Sun, 06 Nov 1994 08:49:57 GMT"}};
  for (const std::time_t now : {std::time_t{0}, std::time_t{784111777}, std::time_t{4102444800}}) {
    EXPECT_EQ(requested_delay(headers, now), seconds(20)) << now;
  }
}

TEST(Retry, WaitsForAnEndpointThatIsDownHoweverOftenItTook) {
  FailedAttempt failed;
  failed.transport = true;
  failed.attempt = 100;
  EXPECT_FALSE(retry_delay(RetryPolicy{}, failed, 0));
  failed.waits = true;
  EXPECT_EQ(retry_delay(RetryPolicy{}, failed, 0), RetryPolicy{}.cap);
  failed.out_of_money = true;
  EXPECT_FALSE(retry_delay(RetryPolicy{}, failed, 0));
}

} // namespace
} // namespace winnow::agents
