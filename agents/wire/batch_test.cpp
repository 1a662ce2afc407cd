#include "agents/wire/wire_test_support.h"
#include "base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::agents {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json line_of(const char* format) {
  const std::string line = format_named(format).batch_line(
      "c7", full_request(), R"({"service_tier":"flex","stream":true})");
  EXPECT_EQ(line.find('\n'), std::string::npos);
  return json::parse(line);
}

TEST(BatchLines, AreWhatEachProviderReads) {
  const json chat = line_of("chat");
  EXPECT_EQ(chat["custom_id"], "c7");
  EXPECT_EQ(chat["method"], "POST");
  EXPECT_EQ(chat["url"], "/v1/chat/completions");
  EXPECT_EQ(chat["body"]["max_completion_tokens"], 1000);
  const json responses = line_of("responses");
  EXPECT_EQ(responses["url"], "/v1/responses");
  EXPECT_EQ(responses["body"]["max_output_tokens"], 1000);
  const json anthropic = line_of("anthropic");
  EXPECT_EQ(anthropic["custom_id"], "c7");
  EXPECT_EQ(anthropic["params"]["max_tokens"], 1000);
  for (const json& body : {chat["body"], responses["body"], anthropic["params"]}) {
    EXPECT_FALSE(body.contains("stream"));
  }
  const json gemini = line_of("gemini");
  EXPECT_EQ(gemini["key"], "c7");
  EXPECT_EQ(gemini["request"]["generationConfig"]["maxOutputTokens"], 1000);
  for (const json& body :
       {chat["body"], responses["body"], anthropic["params"], gemini["request"]}) {
    EXPECT_EQ(body["service_tier"], "flex");
  }
}

/// "id: text", "id: error (status)", or the message about a malformed line.
std::string read(const std::string& line) {
  const BatchAnswer batch = decode_batch_line(line);
  EXPECT_TRUE(exactly_one_outcome(batch.answer)) << line;
  const WireAnswer& answer = batch.answer;
  return batch.custom_id + ": " +
         (answer.reply   ? answer.reply->text
          : answer.error ? answer.error->message + " (" + std::to_string(answer.error->status) + ")"
                         : "malformed: " + answer.malformed);
}

TEST(BatchAnswers, AreReadFromEveryProvider) {
  EXPECT_EQ(read(R"({"id":"b","custom_id":"c","error":null,"response":{"status_code":200,"body":
                    {"choices":[{"message":{"content":"hi"}}]}}})"),
            "c: hi");
  EXPECT_EQ(read(R"({"custom_id":"c","error":null,"response":{"status_code":200,"body":{"object":
                    "response","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}}})"),
            "c: hi");
  EXPECT_EQ(read(R"({"custom_id":"c","result":{"type":"succeeded","message":
                    {"content":[{"type":"text","text":"hi"}],"usage":{}}}})"),
            "c: hi");
  EXPECT_EQ(
      read(R"({"key":"c","response":{"candidates":[{"content":{"parts":[{"text":"hi"}]}}]}})"),
      "c: hi");
  EXPECT_EQ(read(R"({"custom_id":"c","reply":"hi"})"), "c: hi");
}

TEST(BatchAnswers, TellWhatFailed) {
  EXPECT_EQ(
      read(R"({"custom_id":"c","response":{"status_code":400,"body":{"error":{"message":"m"}}}})"),
      "c: m (400)");
  EXPECT_EQ(
      read(R"({"custom_id":"c","response":null,"error":{"code":"batch_expired","message":"m"}})"),
      "c: m (0)");
  EXPECT_EQ(read(R"({"custom_id":"c","result":{"type":"errored","error":{"type":"error",
                    "error":{"type":"invalid_request_error","message":"m"}}}})"),
            "c: m (400)");
  EXPECT_EQ(read(R"({"custom_id":"c","result":{"type":"expired"}})"),
            "c: the provider ended the batch request with the type \"expired\" (0)");
  EXPECT_EQ(read(R"({"key":"c","error":{"code":429,"message":"m"}})"), "c: m (429)");
  EXPECT_EQ(read(R"({"key":"c","status":{"code":3,"message":"m"}})"), "c: m (0)");
  EXPECT_THAT(read(R"({"custom_id":"c","response":{"status_code":200,"body":{}}})"),
              HasSubstr("malformed"));
}

std::string refusal_of(const std::string& line) {
  try {
    decode_batch_line(line);
    return "none";
  } catch (const Error& failure) {
    return failure.what();
  }
}

TEST(BatchAnswers, RefuseLinesThatAreNone) {
  EXPECT_THAT(refusal_of("hello"), HasSubstr("not JSON"));
  EXPECT_THAT(refusal_of("[1]"), HasSubstr("the line has no \"custom_id\""));
  EXPECT_THAT(refusal_of(R"({"reply":"hi"})"), HasSubstr("the line has no \"custom_id\""));
  EXPECT_THAT(refusal_of(R"({"custom_id":"c"})"), HasSubstr("has no \"reply\""));
  EXPECT_THAT(refusal_of(R"({"custom_id":"c","reply":7})"), HasSubstr("has no \"reply\""));
  EXPECT_THAT(refusal_of(std::string(100000, '[')), HasSubstr("nested"));
}

} // namespace
} // namespace winnow::agents
