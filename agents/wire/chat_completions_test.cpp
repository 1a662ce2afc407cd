#include "agents/wire/chat_completions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::agents {
namespace {

using testing::HasSubstr;
using testing::Not;

ModelRequest sample_request() {
  ModelRequest request;
  request.key = "axpy/0/1";
  request.model = "m";
  request.messages = {{"system", "rules"}, {"user", "caf\xC3\xA9 \xFF"}};
  return request;
}

TEST(OpenAiChat, SendsOnlyWhatIsSet) {
  const auto body = nlohmann::json::parse(encode_chat_request(sample_request(), true));
  EXPECT_EQ(body["model"], "m");
  EXPECT_EQ(body["user"], "axpy/0/1");
  EXPECT_EQ(body["messages"][0]["role"], "system");
  EXPECT_EQ(body["messages"][1]["content"], "caf\xC3\xA9 \xEF\xBF\xBD");
  EXPECT_EQ(body.size(), 3U);
}

TEST(OpenAiChat, NamesTheTokenLimitAsTheServerKnowsIt) {
  ModelRequest request = sample_request();
  request.max_output_tokens = 1000;
  request.temperature = 0.5;
  EXPECT_EQ(nlohmann::json::parse(encode_chat_request(request, true))["max_completion_tokens"],
            1000);
  const auto body = nlohmann::json::parse(encode_chat_request(request, false));
  EXPECT_EQ(body["max_tokens"], 1000);
  EXPECT_EQ(body["temperature"], 0.5);
}

TEST(OpenAiChat, DecodesTextUsageAndReportedCost) {
  const ChatAnswer answer = decode_chat_answer(
      R"({"model":"m-1","choices":[{"message":{"content":"hi"},"finish_reason":"length"}],
          "usage":{"prompt_tokens":10,"completion_tokens":5,"cost":0.25,
                   "prompt_tokens_details":{"cached_tokens":4},
                   "completion_tokens_details":{"reasoning_tokens":2}}})");
  ASSERT_TRUE(answer.reply);
  EXPECT_EQ(answer.reply->text, "hi");
  EXPECT_EQ(answer.reply->finish_reason, "length");
  EXPECT_EQ(answer.reply->model, "m-1");
  EXPECT_TRUE(answer.usage_known);
  EXPECT_EQ(answer.reply->usage.prompt_tokens, 10);
  EXPECT_EQ(answer.reply->usage.cached_tokens, 4);
  EXPECT_EQ(answer.reply->usage.completion_tokens, 5);
  EXPECT_EQ(answer.reply->usage.reasoning_tokens, 2);
  EXPECT_EQ(answer.reply->dollars, 0.25);
}

std::string text_of(const std::string& message) {
  const ChatAnswer answer = decode_chat_answer(R"({"choices":[{"message":)" + message + "}]}");
  return answer.reply ? answer.reply->text : "malformed: " + answer.malformed;
}

TEST(OpenAiChat, AcceptsEveryFormOfContent) {
  EXPECT_EQ(text_of(R"({"content":null})"), "");
  EXPECT_EQ(text_of(R"({"content":null,"refusal":"No."})"), "No.");
  EXPECT_EQ(text_of(R"({"content":[{"type":"text","text":"a"},{"type":"image"},{"text":"b"}]})"),
            "ab");
  EXPECT_EQ(text_of(R"({"content":7})"), "");
  EXPECT_EQ(text_of(R"({"reasoning_content":"hm"})"), "");
  EXPECT_THAT(text_of("null"), HasSubstr("malformed"));
}

TEST(OpenAiChat, RepairsInvalidUtf8) {
  EXPECT_EQ(text_of("{\"content\":\r\n\"a\xFF\"}"), "a\xEF\xBF\xBD");
}

TEST(OpenAiChat, SaysWhatCameInstead) {
  const auto malformed = [](const std::string& body) { return decode_chat_answer(body).malformed; };
  EXPECT_THAT(malformed(""), HasSubstr("an empty body"));
  EXPECT_THAT(malformed("<html><body>Bad gateway"), HasSubstr("\"<html><body>Bad gateway\""));
  EXPECT_THAT(malformed("[1]"), HasSubstr("no object"));
  EXPECT_THAT(malformed("{}"), HasSubstr("without \"choices\""));
  EXPECT_THAT(malformed(R"({"choices":[]})"), HasSubstr("an empty list"));
  EXPECT_THAT(malformed(R"({"choices":[3]})"), HasSubstr("no message"));
  EXPECT_THAT(malformed(std::string(100000, '[')), HasSubstr("nested more than 100 levels"));
  EXPECT_LT(malformed(std::string(1U << 20U, 'x')).size(), 1000U);
}

TEST(OpenAiChat, FindsAnErrorInsideAnAnswer) {
  const ChatAnswer answer =
      decode_chat_answer(R"({"error":{"message":"upstream failed","code":502}})");
  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->message, "upstream failed");
  EXPECT_EQ(answer.error->status, 502);
}

TEST(OpenAiChat, DecodesErrorsOfManyServers) {
  EXPECT_EQ(decode_chat_error(R"({"error":{"message":"m"}})").message, "m");
  EXPECT_EQ(decode_chat_error(R"([{"error":{"code":429,"message":"m"}}])").message, "m");
  EXPECT_EQ(decode_chat_error(R"({"error":"model not found"})").message, "model not found");
  EXPECT_EQ(decode_chat_error(R"({"detail":"nope"})").message, "nope");
  EXPECT_EQ(decode_chat_error("<html>\n x").message, "\"<html>  x\"");
  EXPECT_EQ(decode_chat_error("").message, "an empty body");
  EXPECT_LE(decode_chat_error("{\"error\":\"" + std::string(5000, 'x') + "\"}").message.size(),
            330U);
}

TEST(OpenAiChat, KnowsWhenTheMoneyIsGone) {
  EXPECT_TRUE(decode_chat_error(R"({"error":{"type":"insufficient_quota"}})").out_of_money);
  EXPECT_TRUE(decode_chat_error(R"({"error":{"code":"credit_balance_exhausted"}})").out_of_money);
  EXPECT_FALSE(decode_chat_error(R"({"error":{"type":"rate_limit"}})").out_of_money);
}

} // namespace
} // namespace winnow::agents
