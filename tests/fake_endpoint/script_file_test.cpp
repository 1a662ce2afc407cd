#include "base/error.h"
#include "tests/fake_endpoint/faults.h"
#include "tests/fake_endpoint/script_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tests {
namespace {

using ::testing::HasSubstr;

SeenRequest request(const std::string& path, const std::string& body) {
  return {"POST", path, path, {{"x-team", "red"}}, body};
}

std::string refusal(const std::string& text) {
  try {
    ScriptFile(text, "s.json");
  } catch (const Error& failure) {
    return failure.what();
  }
  return "accepted";
}

std::string text_of(const std::optional<FakeReply>& reply) {
  return reply && reply->answer ? reply->answer->text : "none";
}

TEST(ScriptFile, AnswersByTheFirstRuleThatHolds) {
  ScriptFile script(R"([
    {"match": {"path": "responses"}, "reply": {"text": "by path"}},
    {"match": {"body": {"/model": "m", "/stream": true}}, "reply": {"text": "by members"}},
    {"match": {"contains": "hello"}, "reply": {"text": "by text"}},
    {"match": {"header": {"X-Team": "red"}, "method": "POST"}, "times": 1,
     "reply": {"text": "once"}}])",
                    "s.json");
  const auto answer = [&](const std::string& path, const std::string& body) {
    return text_of(script.reply_to(request(path, body)));
  };
  EXPECT_EQ(answer("/v1/responses", "{}"), "by path");
  EXPECT_EQ(answer("/x", R"({"model":"m","stream":true})"), "by members");
  EXPECT_EQ(answer("/x", R"({"model":"m","input":"hello"})"), "by text");
  EXPECT_EQ(answer("/x", "no JSON"), "once");
  EXPECT_EQ(answer("/x", "no JSON"), "none");
}

TEST(ScriptFile, ReadsEveryPartOfAReply) {
  ScriptFile script(R"([
    {"reply": {"fault": "stall-mid-body", "text": "t", "reasoning": "r", "finish": "length",
               "model": "big", "dollars": 0.5, "headers": {"retry-after": "1"},
               "usage": {"prompt": 9, "cached": 4, "cache_write": 1, "completion": 5,
                         "reasoning": 2},
               "delivery": {"first_byte_ms": 1.5, "piece_bytes": 3, "crlf": true},
               "drop_after_bytes": 7}}])",
                    "s.json");
  const FakeReply reply = script.reply_to(request("/x", "")).value();
  EXPECT_EQ(reply.fault, Fault::StallMidBody);
  EXPECT_EQ(reply.answer->reasoning, "r");
  EXPECT_EQ(reply.answer->finish, "length");
  EXPECT_EQ(reply.answer->model, "big");
  EXPECT_EQ(reply.answer->dollars, 0.5);
  EXPECT_EQ(reply.answer->usage.cached_tokens, 4);
  EXPECT_EQ(reply.answer->usage.cache_write_tokens, 1);
  EXPECT_EQ(reply.answer->usage.reasoning_tokens, 2);
  EXPECT_EQ(reply.headers.front().second, "1");
  EXPECT_EQ(reply.delivery.first_byte, std::chrono::microseconds(1500));
  EXPECT_EQ(reply.delivery.piece_bytes, 3U);
  EXPECT_TRUE(reply.delivery.crlf);
  EXPECT_EQ(reply.drop_after_bytes, 7U);
}

TEST(ScriptFile, ReadsErrorsRawBodiesAndEvents) {
  ScriptFile script(R"([
    {"times": 1, "reply": {"status": 429, "error": {"message": "m", "type": "t", "code": "c"}}},
    {"times": 1, "reply": {"status": 502, "body": "<html>", "content_type": "text/html"}},
    {"times": 1, "reply": {"events": [{"bytes": "a"}, {"wait_ms": 2, "bytes": "b"}]}}])",
                    "s.json");
  const FakeReply error = script.reply_to(request("/x", "")).value();
  EXPECT_EQ(error.error->status, 429);
  EXPECT_EQ(error.error->code, "c");
  const FakeReply page = script.reply_to(request("/x", "")).value();
  EXPECT_EQ(page.status, 502);
  EXPECT_EQ(page.body, "<html>");
  EXPECT_EQ(page.content_type, "text/html");
  const FakeReply stream = script.reply_to(request("/x", "")).value();
  ASSERT_EQ(stream.events.size(), 2U);
  EXPECT_EQ(stream.events[1].wait, std::chrono::milliseconds(2));
}

TEST(ScriptFile, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(refusal("[1"), HasSubstr("s.json: "));
  EXPECT_THAT(refusal("{}"), HasSubstr("s.json: expected a list of rules"));
  EXPECT_EQ(refusal("[{}]"), "s.json: rule 1, reply: expected an object");
  EXPECT_EQ(refusal(R"([{"reply": {}}, {"reply": {"txt": 1}}])"),
            "s.json: rule 2, reply: unknown member 'txt'; did you mean 'text'?");
  EXPECT_EQ(refusal(R"([{"reply": {"delivery": {"between_ms": -1}}}])"),
            "s.json: rule 1, reply, delivery, between_ms: expected milliseconds from 0");
  EXPECT_EQ(refusal(R"([{"match": {"body": {"model": 1}}, "reply": {}}])"),
            "s.json: rule 1, match, body, model: expected a JSON pointer like /model");
  EXPECT_EQ(refusal(R"([{"reply": {"events": []}}])"),
            "s.json: rule 1, reply, events: expected a list that is not empty");
  EXPECT_THAT(refusal(R"([{"reply": {"fault": "nope"}}])"),
              HasSubstr("s.json: rule 1, reply: unknown fault 'nope'; known: 400, 401"));
}

TEST(Faults, AllCanBeMade) {
  EXPECT_GE(fault_names().size(), 40U);
  for (const std::string& name : fault_names()) {
    const FakeReply reply = faulty_reply(name);
    EXPECT_TRUE(reply.status != 200 || reply.fault != Fault::None || reply.answer || reply.error ||
                !reply.body.empty() || name == "empty-body")
        << name << " is no fault";
  }
}

} // namespace
} // namespace winnow::tests
