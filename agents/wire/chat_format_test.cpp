#include "agents/wire/wire_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::agents {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const WireFormat& chat() {
  return format_named("chat");
}

json chat_body(const ModelRequest& request, bool openai_itself, bool stream = false) {
  WireOptions options;
  options.openai_itself = openai_itself;
  options.stream = stream;
  return chat().encode(request, options);
}

TEST(Chat, SendsOnlyWhatIsSet) {
  EXPECT_EQ(chat_body(plain_request(), true),
            json::parse(R"({"model":"m","messages":[{"role":"user","content":"hello"}]})"));
}

TEST(Chat, SendsEverythingToAServer) {
  const json body = chat_body(full_request(), false, true);
  EXPECT_EQ(body["messages"].size(), 4U);
  EXPECT_EQ(body["messages"][0], json::parse(R"({"role":"system","content":"rules"})"));
  EXPECT_EQ(body["messages"][1]["content"], "task caf\xC3\xA9 \xEF\xBF\xBD");
  EXPECT_EQ(body["user"], "axpy/0/1");
  EXPECT_EQ(body["max_tokens"], 1000);
  EXPECT_EQ(body["temperature"], 0.5);
  EXPECT_EQ(body["reasoning_effort"], "high");
  EXPECT_EQ(body["stream"], true);
  EXPECT_EQ(body["stream_options"]["include_usage"], true);
  EXPECT_EQ(body["response_format"]["type"], "json_schema");
  EXPECT_EQ(body["response_format"]["json_schema"],
            json::parse(R"({"name":"verdict","strict":true,"schema":{"type":"object"}})"));
  EXPECT_FALSE(body.contains("prompt_cache_key"));
}

TEST(Chat, SpeaksOpenAisOwnDialect) {
  ModelRequest request = full_request();
  const json body = chat_body(request, true);
  EXPECT_EQ(body["max_completion_tokens"], 1000);
  EXPECT_FALSE(body.contains("max_tokens"));
  EXPECT_FALSE(body.contains("temperature")) << "refused by models that reason";
  EXPECT_FALSE(body.contains("user")) << "another user for each call would spoil the cache";
  request.effort = "none";
  EXPECT_EQ(chat_body(request, true)["temperature"], 0.5);
}

TEST(Chat, NamesThePrefixSoThatItsCacheIsFound) {
  ModelRequest request = full_request();
  const std::string key = chat_body(request, true)["prompt_cache_key"];
  EXPECT_EQ(key.size(), 23U);
  request.messages.back().text = "another question";
  EXPECT_EQ(chat_body(request, true)["prompt_cache_key"], key);
  request.messages.front().text = "other rules";
  EXPECT_NE(chat_body(request, true)["prompt_cache_key"], key);
  EXPECT_FALSE(chat_body(plain_request(), true).contains("prompt_cache_key"));
}

TEST(Chat, DecodesTextUsageAndReportedCost) {
  const WireAnswer answer = chat().decode(
      R"({"id":"r","model":"m-1","choices":[{"message":{"content":"hi"},"finish_reason":"length"}],
          "usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"cost":0.25,
                   "prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":3},
                   "completion_tokens_details":{"reasoning_tokens":2}}})");
  ASSERT_TRUE(answer.reply);
  EXPECT_EQ(answer.reply->status, ModelReply::Status::Ok);
  EXPECT_EQ(answer.reply->text, "hi");
  EXPECT_EQ(answer.reply->finish_reason, "length");
  EXPECT_EQ(answer.reply->model, "m-1");
  EXPECT_EQ(answer.reply->request_id, "r");
  EXPECT_TRUE(answer.usage_known);
  const Usage& usage = answer.reply->usage;
  EXPECT_EQ(usage.prompt_tokens, 10);
  EXPECT_EQ(usage.cached_tokens, 4);
  EXPECT_EQ(usage.cache_write_tokens, 3);
  EXPECT_EQ(usage.completion_tokens, 5);
  EXPECT_EQ(usage.reasoning_tokens, 2);
  EXPECT_EQ(answer.reply->dollars, 0.25);
}

WireAnswer with_usage(const std::string& usage) {
  return chat().decode(R"({"choices":[{"message":{"content":""}}],"usage":)" + usage + "}");
}

TEST(Chat, NormalisesWhatServersCountDifferently) {
  const WireAnswer deepseek =
      with_usage(R"({"prompt_tokens":10,"completion_tokens":5,"prompt_cache_hit_tokens":6})");
  EXPECT_EQ(deepseek.reply->usage.cached_tokens, 6);
  const WireAnswer xai = with_usage(
      R"({"prompt_tokens":10,"completion_tokens":5,"total_tokens":17,
          "completion_tokens_details":{"reasoning_tokens":2}})");
  EXPECT_EQ(xai.reply->usage.completion_tokens, 7);
  const WireAnswer own_key = with_usage(
      R"({"prompt_tokens":1,"completion_tokens":1,"cost":0.25,"is_byok":true,
          "cost_details":{"upstream_inference_cost":0.5}})");
  EXPECT_EQ(own_key.reply->dollars, 0.75);
  const WireAnswer own_part = with_usage(
      R"({"prompt_tokens":1,"completion_tokens":1,"cost":0.25,
          "cost_details":{"upstream_inference_cost":0.25}})");
  EXPECT_EQ(own_part.reply->dollars, 0.25);
}

TEST(Chat, FindsUsageWhereServersPutIt) {
  for (const char* where :
       {R"("choices":[{"message":{"content":"a"}}],"x_groq":{"usage":USAGE})",
        R"("choices":[{"message":{"content":"a"},"usage":USAGE}])",
        R"("choices":[{"message":{"content":"a"}}],"usage":USAGE,"x_groq":{"usage":{}})"}) {
    std::string body = where;
    body.replace(body.find("USAGE"), 5, R"({"prompt_tokens":10,"completion_tokens":5})");
    const WireAnswer answer = chat().decode("{" + body + "}");
    EXPECT_TRUE(answer.usage_known) << body;
    EXPECT_EQ(answer.reply->usage.prompt_tokens, 10) << body;
  }
}

TEST(Chat, DoesNotBelieveCountsThatContradictEachOther) {
  const Usage usage = with_usage(R"({"prompt_tokens":10,"completion_tokens":5,
                     "prompt_tokens_details":{"cached_tokens":8,"cache_write_tokens":1e99},
                     "completion_tokens_details":{"reasoning_tokens":7}})")
                          .reply->usage;
  EXPECT_EQ(usage.cached_tokens, 8);
  EXPECT_EQ(usage.cache_write_tokens, 2);
  EXPECT_EQ(usage.reasoning_tokens, 5);
}

TEST(Chat, DoesNotKnowUsageThatWasNotSent) {
  for (const char* usage : {"null", "{}", "[]", R"({"prompt_tokens":3})"}) {
    const WireAnswer answer = with_usage(usage);
    ASSERT_TRUE(answer.reply) << usage;
    EXPECT_FALSE(answer.usage_known) << usage;
    EXPECT_FALSE(answer.reply->dollars) << usage;
  }
}

/// "text (finish reason)" of an answer with this first choice.
std::string said(const std::string& choice) {
  const WireAnswer answer = chat().decode(R"({"choices":[)" + choice + "]}");
  return answer.reply ? answer.reply->text + " (" + answer.reply->finish_reason + ")"
                      : "malformed: " + answer.malformed;
}

TEST(Chat, AcceptsEveryFormOfContent) {
  EXPECT_EQ(said(R"({"message":{"content":null}})"), " ()");
  EXPECT_EQ(said(R"({"message":{"content":null,"refusal":"No."},"finish_reason":"stop"})"),
            "No. (content_filter)");
  EXPECT_EQ(
      said(R"({"message":{"content":[{"type":"text","text":"a"},{"type":"image"},{"text":"b"},7]},
                     "finish_reason":"stop"})"),
      "ab (stop)");
  EXPECT_EQ(said(R"({"message":{"content":7}})"), " ()");
  EXPECT_EQ(said(R"({"message":{"reasoning_content":"hm"},"finish_reason":"function_call"})"),
            " (tool_calls)");
  EXPECT_EQ(said("{\"message\":{\"content\":\r\n\"a\xFF\"}}"), "a\xEF\xBF\xBD ()");
  EXPECT_THAT(said(R"({"message":null})"), HasSubstr("no message"));
  EXPECT_THAT(said("3"), HasSubstr("no message"));
}

TEST(Chat, SaysWhatCameInstead) {
  const auto malformed = [](const std::string& body) { return chat().decode(body).malformed; };
  EXPECT_THAT(malformed(""), HasSubstr("an empty body"));
  EXPECT_THAT(malformed("<html><body>Bad gateway"), HasSubstr("\"<html><body>Bad gateway\""));
  EXPECT_THAT(malformed("[1]"), HasSubstr("not an object: \"[1]\""));
  EXPECT_THAT(malformed("{}"), HasSubstr("without \"choices\": \"{}\""));
  EXPECT_THAT(malformed(R"({"choices":[]})"), HasSubstr("an empty list"));
  EXPECT_THAT(malformed(std::string(100000, '[')), HasSubstr("nested more than 100 levels"));
  EXPECT_LT(malformed(std::string(1U << 20U, 'x')).size(), 1000U);
}

TEST(Chat, FindsAnErrorInsideAnAnswer) {
  const WireAnswer answer = chat().decode(
      R"({"error":{"message":"upstream failed","code":502},
          "usage":{"prompt_tokens":10,"completion_tokens":0}})");
  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->message, "upstream failed");
  EXPECT_EQ(answer.error->status, 502);
  EXPECT_EQ(answer.lost_usage.prompt_tokens, 10);
  const WireAnswer in_choice =
      chat().decode(R"({"choices":[{"error":{"message":"m","code":503}}]})");
  ASSERT_TRUE(in_choice.error);
  EXPECT_EQ(in_choice.error->status, 503);
}

const std::string kHalf = R"({"choices":[{"delta":{"content":"half"}}],)"
                          R"("usage":{"prompt_tokens":10,"completion_tokens":1}})";
const std::string kStop = R"({"choices":[{"delta":{},"finish_reason":"stop"}]})";

TEST(ChatStream, ACountBeforeTheLastTextIsNotWhole) {
  const std::string rest = R"({"choices":[{"delta":{"content":" and the rest"}}]})";
  EXPECT_FALSE(stream_answer(chat(), data_events({kHalf, rest, kStop})).usage_known);
  EXPECT_TRUE(stream_answer(chat(), data_events({kHalf, kStop})).usage_known);
}

TEST(ChatStream, TakesUsageOfEachChunkAndNoTerminator) {
  const WireAnswer answer = stream_answer(
      chat(), data_events({kHalf, R"({"choices":[{"index":1,"delta":{"content":"x"}}]})", kStop,
                           R"({"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":7}})",
                           R"({"choices":[],"usage":null})"}));
  ASSERT_TRUE(answer.reply);
  EXPECT_EQ(answer.reply->text, "half");
  EXPECT_TRUE(answer.usage_known);
  EXPECT_EQ(answer.reply->usage.completion_tokens, 7);
}

TEST(ChatStream, KnowsAnAnswerThatBrokeOff) {
  const WireAnswer answer = stream_answer(chat(), data_events({kHalf}));
  EXPECT_THAT(answer.malformed, HasSubstr("broke off after 4 bytes of text"));
  EXPECT_EQ(answer.lost_usage.prompt_tokens, 10);
  EXPECT_FALSE(stream_answer(chat(), data_events({"[DONE]"})).reply);
  EXPECT_TRUE(stream_answer(chat(), data_events({kHalf, "[DONE]"})).reply)
      << "some servers give no reason";
}

TEST(ChatStream, StopsAtAnError) {
  for (const std::string error :
       {R"({"error":{"message":"upstream died","code":502},"choices":[{"finish_reason":"error"}]})",
        R"({"choices":[{"error":{"message":"upstream died","code":502}}]})"}) {
    const WireAnswer answer = stream_answer(chat(), data_events({kHalf, error, kStop, "[DONE]"}));
    ASSERT_TRUE(answer.error);
    EXPECT_FALSE(answer.reply);
    EXPECT_EQ(answer.error->message, "upstream died");
    EXPECT_EQ(answer.error->status, 502);
    EXPECT_EQ(answer.lost_usage.prompt_tokens, 10);
  }
}

TEST(Chat, TakesAnAnswerThatEndedInAFailureForAnError) {
  const std::string choice = R"({"delta":{},"message":{"content":"half"},"finish_reason":"error"})";
  for (const WireAnswer& answer :
       {chat().decode(R"({"choices":[)" + choice + "]}"),
        stream_answer(chat(), data_events({kHalf, R"({"choices":[)" + choice + "]}"}))}) {
    ASSERT_TRUE(answer.error);
    EXPECT_EQ(answer.error->status, 503);
    EXPECT_THAT(answer.error->message, HasSubstr("\"error\""));
  }
}

TEST(Chat, FindsAnErrorWithoutTheUsualName) {
  for (const std::string body :
       {R"({"message":"slow down","code":429})", R"({"detail":"slow down","status":429})",
        R"({"object":"error","message":"slow down","type":"rate_limit_error"})"}) {
    const WireAnswer answer = chat().decode(body);
    ASSERT_TRUE(answer.error) << body;
    EXPECT_EQ(answer.error->message, "slow down");
  }
  EXPECT_EQ(chat().decode(R"({"message":"slow down","code":429})").error->status, 429);
  EXPECT_FALSE(chat().decode(R"({"message":"", "detail":null})").error);
}

TEST(ChatStream, GoesOnAfterANullThatIsAWord) {
  for (const std::string null : {"null", "None"}) {
    const std::string first =
        R"({"choices":[{"delta":{"content":"half"},"finish_reason":")" + null + R"("}]})";
    EXPECT_TRUE(stream_answer(chat(), data_events({first})).cut_off);
    const WireAnswer answer = stream_answer(
        chat(), data_events({first, R"({"choices":[{"delta":{"content":" more"}}]})", kStop}));
    ASSERT_TRUE(answer.reply);
    EXPECT_EQ(answer.reply->text, "half more");
    EXPECT_EQ(answer.reply->finish_reason, "stop");
  }
}

TEST(ChatStream, IgnoresToolCallsAndNullMembers) {
  const WireAnswer answer = stream_answer(
      chat(),
      data_events({R"({"choices":[{"delta":{"content":null,"tool_calls":[{"index":0}]}}]})",
                   R"({"choices":[{"delta":null,"finish_reason":"tool_calls"}],"error":null})"}));
  ASSERT_TRUE(answer.reply);
  EXPECT_EQ(answer.reply->text, "");
  EXPECT_EQ(answer.reply->finish_reason, "tool_calls");
}

TEST(ChatStream, JoinsARefusal) {
  const WireAnswer answer = stream_answer(
      chat(), data_events({R"({"choices":[{"delta":{"refusal":"I "}}]})",
                           R"({"choices":[{"delta":{"refusal":"cannot."}}]})", kStop}));
  ASSERT_TRUE(answer.reply);
  EXPECT_EQ(answer.reply->text, "I cannot.");
  EXPECT_EQ(answer.reply->finish_reason, "content_filter");
}

} // namespace
} // namespace winnow::agents
