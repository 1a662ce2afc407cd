#include "agents/wire/wire_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::agents {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const WireFormat& responses() {
  return format_named("responses");
}

json responses_body(const ModelRequest& request, bool openai_itself, bool stream = false) {
  WireOptions options;
  options.openai_itself = openai_itself;
  options.stream = stream;
  return responses().encode(request, options);
}

TEST(Responses, SendsOnlyWhatIsSet) {
  EXPECT_EQ(responses_body(plain_request(), true),
            json::parse(R"({"model":"m","store":false,"input":[{"type":"message","role":"user",)"
                        R"("content":"hello"}]})"));
}

TEST(Responses, SendsEverything) {
  const json body = responses_body(full_request(), false, true);
  EXPECT_EQ(body["instructions"], "rules");
  EXPECT_EQ(body["input"].size(), 3U);
  EXPECT_EQ(body["input"][0]["content"], "task caf\xC3\xA9 \xEF\xBF\xBD");
  EXPECT_EQ(body["input"][1],
            json::parse(R"({"type":"message","role":"assistant","status":"completed",
                "content":[{"type":"output_text","text":"a kernel","annotations":[]}]})"));
  EXPECT_EQ(body["metadata"]["key"], "axpy/0/1");
  EXPECT_EQ(body["max_output_tokens"], 1000);
  EXPECT_EQ(body["temperature"], 0.5);
  EXPECT_EQ(body["reasoning"]["effort"], "high");
  EXPECT_EQ(body["stream"], true);
  EXPECT_EQ(body["text"]["format"], json::parse(R"({"type":"json_schema","name":"verdict",
                                                    "strict":true,"schema":{"type":"object"}})"));
}

TEST(Responses, SpeaksOpenAisOwnDialect) {
  const json body = responses_body(full_request(), true);
  EXPECT_THAT(body["prompt_cache_key"].get<std::string>(), testing::StartsWith("winnow-"));
  EXPECT_FALSE(body.contains("metadata"));
  EXPECT_FALSE(body.contains("temperature"));
  EXPECT_FALSE(body.contains("stream"));
}

TEST(Responses, DecodesTextAndUsage) {
  const WireAnswer answer = responses().decode(
      R"({"id":"resp_1","status":"completed","error":null,"model":"m-1","output":[
            {"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],
             "content":[{"type":"output_text","text":"hidden"}]},
            {"type":"message","content":[{"type":"output_text","text":"a"},{"type":"other","text":"x"}]},
            7,{"type":"message","content":[{"type":"output_text","text":"b"}]}],
          "usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":3},
                   "output_tokens":5,"output_tokens_details":{"reasoning_tokens":2}}})");
  ASSERT_TRUE(answer.reply) << answer.malformed;
  EXPECT_EQ(answer.reply->text, "ab");
  EXPECT_EQ(answer.reply->finish_reason, "stop");
  EXPECT_EQ(answer.reply->model, "m-1");
  EXPECT_EQ(answer.reply->request_id, "resp_1");
  EXPECT_TRUE(answer.usage_known);
  EXPECT_EQ(answer.reply->usage.prompt_tokens, 10);
  EXPECT_EQ(answer.reply->usage.cached_tokens, 4);
  EXPECT_EQ(answer.reply->usage.cache_write_tokens, 3);
  EXPECT_EQ(answer.reply->usage.completion_tokens, 5);
  EXPECT_EQ(answer.reply->usage.reasoning_tokens, 2);
}

/// "text (finish reason)", or what is wrong.
std::string text_item(const std::string& body) {
  const WireAnswer answer = responses().decode(body);
  return answer.reply   ? answer.reply->text + " (" + answer.reply->finish_reason + ")"
         : answer.error ? "error: " + answer.error->message
                        : answer.malformed;
}

TEST(Responses, KnowsHowAnAnswerEnded) {
  EXPECT_EQ(text_item(R"({"output":[{"type":"reasoning"}]})"), " (stop)");
  EXPECT_EQ(
      text_item(
          R"({"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]})"),
      " (length)");
  EXPECT_EQ(
      text_item(
          R"({"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]})"),
      " (content_filter)");
  EXPECT_EQ(
      text_item(
          R"({"output":[{"type":"message","content":[{"type":"refusal","refusal":"No."}]}]})"),
      "No. (content_filter)");
  EXPECT_EQ(text_item(R"({"output":[{"type":"function_call"}]})"), " (tool_calls)");
  EXPECT_THAT(text_item(R"({"status":"in_progress","output":[]})"), HasSubstr("\"in_progress\""));
  EXPECT_THAT(text_item("{}"), HasSubstr("without \"output\""));
  EXPECT_EQ(
      text_item(
          R"({"status":"failed","error":{"code":"server_error","message":"sorry"},"output":[]})"),
      "error: sorry");
}

TEST(ResponsesStream, PrefersTheWholeAnswerAtTheEnd) {
  const WireAnswer whole = stream_answer(
      responses(),
      data_events(
          {R"({"type":"response.output_text.delta","delta":"he"})",
           R"({"type":"response.incomplete","response":{"status":"incomplete",)"
           R"("incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"message",)"
           R"("content":[{"type":"output_text","text":"hello"}]}]}})"}));
  ASSERT_TRUE(whole.reply);
  EXPECT_EQ(whole.reply->text, "hello");
  EXPECT_EQ(whole.reply->finish_reason, "length");
  EXPECT_FALSE(whole.usage_known);
}

TEST(ResponsesStream, EndsInAFailure) {
  const std::string begin = R"({"type":"response.output_text.delta","delta":"he"})";
  const WireAnswer failed = stream_answer(
      responses(),
      data_events({begin, R"({"type":"response.failed","response":{"usage":{"input_tokens":9},)"
                          R"("error":{"code":"rate_limit_exceeded","message":"slow down"}}})"}));
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->message, "slow down");
  EXPECT_EQ(failed.error->status, 429);
  EXPECT_EQ(failed.lost_usage.prompt_tokens, 9);
  for (const std::string event :
       {R"({"type":"error","code":"server_error","message":"oops","param":null})",
        R"({"type":"error","error":{"type":"server_error","message":"oops"}})"}) {
    const WireAnswer answer = stream_answer(responses(), data_events({begin, event}));
    ASSERT_TRUE(answer.error) << event;
    EXPECT_EQ(answer.error->message, "oops");
    EXPECT_EQ(answer.error->status, 500);
  }
}

TEST(ResponsesStream, JoinsARefusal) {
  const WireAnswer answer = stream_answer(
      responses(),
      data_events({R"({"type":"response.refusal.delta","delta":"No."})",
                   R"({"type":"response.completed","response":{"status":"completed"}})"}));
  ASSERT_TRUE(answer.reply);
  EXPECT_EQ(answer.reply->text, "No.");
  EXPECT_EQ(answer.reply->finish_reason, "content_filter");
}

} // namespace
} // namespace winnow::agents
