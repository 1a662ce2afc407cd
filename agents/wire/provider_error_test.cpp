#include "agents/wire/wire_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

ProviderError error_in(const std::string& body) {
  return decode_error_body(body);
}

TEST(ProviderErrors, AreReadInEveryForm) {
  EXPECT_EQ(error_in(R"({"error":{"message":"m"}})").message, "m");
  EXPECT_EQ(error_in(R"([{"error":{"code":429,"message":"m"}}])").message, "m");
  EXPECT_EQ(error_in(R"({"error":"model not found"})").message, "model not found");
  EXPECT_EQ(error_in(R"({"object":"error","message":"m","code":400})").status, 400);
  EXPECT_EQ(error_in(R"({"detail":"nope"})").message, "nope");
  EXPECT_EQ(error_in(R"({"detail":[{"msg":"nope"}]})").message, R"([{"msg":"nope"}])");
  EXPECT_EQ(error_in(R"({"type":"error","error":{"type":"api_error","message":"m"}})").message,
            "m");
  EXPECT_EQ(error_in(R"({"error":{"message":"Provider returned error","code":502,
                         "metadata":{"raw":"why"}}})")
                .message,
            "Provider returned error: why");
  EXPECT_EQ(error_in("<html>\r\n\tx").message, "\"<html>   x\"");
  EXPECT_EQ(error_in("").message, "an empty body");
  EXPECT_EQ(error_in(R"({"error":{"code":"x"}})").message, R"({"code":"x"})");
}

TEST(ProviderErrors, AreShortValidLines) {
  const std::string long_text = "a" + std::string(5000, '\xFF');
  for (const std::string& body :
       {"{\"error\":\"" + long_text + "\"}", long_text, std::string(100000, '['),
        "{\"error\":{\"message\":\"" + std::string(299, 'x') + "\xE2\x82\xAC" + "yy\"}}"}) {
    const std::string message = error_in(body).message;
    EXPECT_LE(message.size(), 302U);
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_THAT(message, HasSubstr("..."));
  }
}

TEST(ProviderErrors, TellAStatus) {
  const auto status = [](const std::string& error) {
    return error_in(R"({"error":)" + error + "}").status;
  };
  EXPECT_EQ(status(R"({"code":502})"), 502);
  EXPECT_EQ(status(R"({"code":"429"})"), 429);
  EXPECT_EQ(status(R"({"code":7})"), 0);
  EXPECT_EQ(status(R"({"code":1e300})"), 0);
  EXPECT_EQ(status(R"({"type":"overloaded_error"})"), 0) << "the HTTP status says more";
}

TEST(ProviderErrors, KnowWhenTheMoneyIsGone) {
  const auto no_money = [](const std::string& error) {
    return error_in(R"({"error":)" + error + "}").out_of_money;
  };
  EXPECT_TRUE(no_money(R"({"type":"insufficient_quota"})"));
  EXPECT_TRUE(no_money(R"({"code":"credit_balance_exhausted"})"));
  EXPECT_TRUE(no_money(R"({"code":"organization_spend_limit_exceeded"})"));
  EXPECT_TRUE(no_money(R"({"type":"billing_error"})"));
  EXPECT_TRUE(no_money(R"({"type":"invalid_request_error",
                           "message":"Your credit balance is too low to access the API."})"));
  EXPECT_FALSE(no_money(R"({"type":"rate_limit"})"));
  EXPECT_FALSE(no_money(R"({"message":"You exceeded your current quota"})"))
      << "Gemini says so of rates too";
}

/// Decodes an error of Gemini with these details.
ProviderError with_details(const std::string& details) {
  return decode_error_body(
      R"([{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m","details":)" + details +
      "}}]");
}

TEST(ProviderErrors, KnowHowLongToWait) {
  const auto delay = [](const std::string& text) {
    return with_details(R"([{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":")" +
                        text + "\"}]")
        .retry_after;
  };
  EXPECT_EQ(delay("22s"), milliseconds(22000));
  EXPECT_EQ(delay("1.5s"), milliseconds(1500));
  EXPECT_EQ(delay("0s"), milliseconds(0));
  EXPECT_EQ(delay("1e99s"), std::chrono::hours(7 * 24));
  for (const char* nonsense : {"", "s", "22", "22m", "-3s", "nans", "22s "}) {
    EXPECT_FALSE(delay(nonsense)) << nonsense;
  }
  EXPECT_FALSE(with_details("[7,{},null]").retry_after);
}

TEST(ProviderErrors, KnowALimitOfTheDay) {
  EXPECT_TRUE(with_details(R"([{"violations":[{"quotaId":"A-PerMinute"},
                                {"quotaId":"GenerateRequestsPerDayPerProject-FreeTier"}]}])")
                  .daily_limit);
  EXPECT_FALSE(with_details(R"([{"violations":[{"quotaId":"A-PerMinute"},3]}])").daily_limit);
  EXPECT_TRUE(
      error_in(R"({"error":{"message":"Rate limit exceeded: free-models-per-day"}})").daily_limit);
}

} // namespace
} // namespace winnow::agents
