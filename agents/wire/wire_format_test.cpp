#include "agents/wire/wire_test_support.h"
#include "base/error.h"

#include <cstdlib>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::agents {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(WireFormats, AreFoundByName) {
  EXPECT_THAT(wire_format_names(), ElementsAre("chat", "responses", "anthropic", "gemini"));
  for (const std::string& name : wire_format_names()) {
    ASSERT_NE(find_wire_format(name), nullptr);
    EXPECT_EQ(find_wire_format(name)->name(), name);
  }
  EXPECT_EQ(find_wire_format("openai"), nullptr) << "a provider";
  EXPECT_EQ(find_wire_format("smoke signals"), nullptr);
}

struct UrlCase {
  const char* format;
  const char* base;
  bool stream;
  const char* url;
};

TEST(WireFormats, KnowWhereRequestsGo) {
  const UrlCase cases[] = {
      {"chat", "", true, "https://api.openai.com/v1/chat/completions"},
      {"chat", "http://localhost:8000/v1/", false, "http://localhost:8000/v1/chat/completions"},
      {"chat", "http://h/x/chat/completions", false, "http://h/x/chat/completions"},
      {"chat", "http://h/x?api-version=1", false, "http://h/x/chat/completions?api-version=1"},
      {"responses", "", true, "https://api.openai.com/v1/responses"},
      {"responses", "http://h/v1/responses", true, "http://h/v1/responses"},
      {"anthropic", "", true, "https://api.anthropic.com/v1/messages"},
      {"anthropic", "http://h/v1", true, "http://h/v1/messages"},
      {"anthropic", "http://h/p/v1/messages", true, "http://h/p/v1/messages"},
      {"gemini", "", false,
       "https://generativelanguage.googleapis.com/v1beta/models/a%2Fb%20c:generateContent"},
      {"gemini", "http://h/v1", true, "http://h/v1/models/a%2Fb%20c:streamGenerateContent?alt=sse"},
      {"gemini", "http://h:80", true,
       "http://h:80/v1beta/models/a%2Fb%20c:streamGenerateContent?alt=sse"},
      {"gemini", "http://h/v1beta/models/x:generateContent", true,
       "http://h/v1beta/models/x:streamGenerateContent?alt=sse"},
      {"gemini", "http://h/v1beta/models/x:streamGenerateContent?alt=sse", true,
       "http://h/v1beta/models/x:streamGenerateContent?alt=sse"},
  };
  for (const UrlCase& c : cases) {
    EXPECT_EQ(format_named(c.format).url(c.base, "models/a/b c", c.stream), c.url);
  }
}

TEST(WireFormats, SendTheKeyAsEachProviderWantsIt) {
  const auto last_header = [](const char* format, const std::string& key) {
    return format_named(format).headers(key).back();
  };
  EXPECT_EQ(last_header("chat", "k"), "Authorization: Bearer k");
  EXPECT_EQ(last_header("responses", "k"), "Authorization: Bearer k");
  EXPECT_EQ(last_header("anthropic", "k"), "x-api-key: k");
  EXPECT_EQ(last_header("anthropic", "sk-ant-oat01-k"), "Authorization: Bearer sk-ant-oat01-k");
  EXPECT_EQ(last_header("anthropic", ""), "anthropic-version: 2023-06-01");
  EXPECT_EQ(last_header("gemini", "k"), "x-goog-api-key: k");
  for (const std::string& name : wire_format_names()) {
    EXPECT_EQ(find_wire_format(name)->headers("").front(), "Content-Type: application/json");
  }
}

TEST(WireFormats, MergeTheExtraBodyLast) {
  WireOptions options;
  options.extra_body = R"({"model":null,"seed":7,"thinking":{"type":"x"}})";
  for (const std::string& name : wire_format_names()) {
    const json body = find_wire_format(name)->encode(full_request(), options);
    EXPECT_FALSE(body.contains("model")) << name;
    EXPECT_EQ(body["seed"], 7) << name;
    EXPECT_EQ(body["thinking"]["type"], "x") << name;
  }
  options.extra_body = "[1]";
  EXPECT_THROW(format_named("chat").encode(full_request(), options), UsageError);
  options.extra_body = "{";
  EXPECT_THROW(format_named("gemini").encode(full_request(), options), UsageError);
}

/// With WINNOW_BODIES=FOLDER the bodies are also written there: scripts/test-providers.sh compares
/// them with the types of the providers' own libraries.
TEST(WireFormats, WriteBodiesForTheProvidersTypes) {
  const std::map<std::string, std::string> models{{"chat", "gpt-5"},
                                                  {"responses", "gpt-5"},
                                                  {"anthropic", "claude-opus-5-5"},
                                                  {"gemini", "gemini-3.5-flash"}};
  for (const std::string& name : wire_format_names()) {
    ModelRequest request = full_request();
    request.model = models.at(name);
    WireOptions options;
    options.openai_itself = true;
    const nlohmann::json full = format_named(name).encode(request, options);
    request = plain_request();
    request.model = models.at(name);
    options.stream = false;
    const nlohmann::json plain = format_named(name).encode(request, options);
    EXPECT_GT(full.size(), plain.size()) << name;
    if (const char* folder = std::getenv("WINNOW_BODIES"); folder != nullptr) {
      std::ofstream(std::string(folder) + "/" + name + "_full.json") << full;
      std::ofstream(std::string(folder) + "/" + name + "_plain.json") << plain;
    }
  }
}

TEST(WireFormats, RefuseASchemaThatIsNone) {
  ModelRequest request = full_request();
  request.schema->schema = "free text";
  for (const std::string& name : wire_format_names()) {
    EXPECT_THROW(find_wire_format(name)->encode(request, {}), Error) << name;
  }
}

TEST(WireFormats, SendValidUtf8AndNoEmptyMessage) {
  ModelRequest request = full_request();
  request.messages.push_back({"assistant", "", false});
  for (const std::string& name : wire_format_names()) {
    const std::string body = find_wire_format(name)->encode(request, {}).dump();
    EXPECT_THAT(body, HasSubstr("caf\xC3\xA9 \xEF\xBF\xBD")) << name;
    EXPECT_THAT(body, testing::Not(HasSubstr(R"("")"))) << name;
  }
}

/// For each format, a stream with the text "h\u00E9llo" and a usage of 10 + 5 tokens, 2 of them for
/// reasoning.
std::string sample_stream(const std::string& format) {
  if (format == "chat") {
    return ": PROCESSING\n\n" +
           data_events(
               {R"({"id":"r1","model":"m-1","choices":[{"delta":{"role":"assistant","content":""}}]})",
                R"({"id":"r1","choices":[{"delta":{"reasoning_content":"hm"}}]})",
                R"({"id":"r1","choices":[{"delta":{"content":"h\u00e9"},"finish_reason":null}]})",
                R"({"choices":[]})", "{\"choices\":[{\"delta\":{\"content\":\"llo\"}}]}",
                R"({"choices":[{"delta":{},"finish_reason":"stop"}]})",
                R"({"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,)"
                R"("completion_tokens_details":{"reasoning_tokens":2}}})",
                "[DONE]"});
  }
  if (format == "responses") {
    return "event: response.created\n" +
           data_events({R"({"type":"response.created","response":{"id":"r1"}})",
                        R"({"type":"response.reasoning_summary_text.delta","delta":"hm"})",
                        "{\"type\":\"response.output_text.delta\",\"delta\":\"h\xC3\xA9\"}",
                        R"({"type":"response.output_text.delta","delta":"llo"})"}) +
           "event: response.completed\ndata: " +
           R"({"response":{"id":"r1","model":"m-1","status":"completed","output":[],"usage":)" +
           "\ndata: " +
           R"({"input_tokens":10,"output_tokens":5,"output_tokens_details":{"reasoning_tokens":2}}}})" +
           "\n\n";
  }
  if (format == "anthropic") {
    return "event: message_start\r\ndata: " +
           std::string(R"({"type":"message_start","message":{"id":"r1","model":"m-1","usage":)") +
           R"({"input_tokens":10,"output_tokens":1}}})" +
           "\r\n\r\nevent: ping\r\ndata: {\"type\":\"ping\"}\r\n\r\n" +
           data_events(
               {R"({"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}})",
                R"({"type":"content_block_start","content_block":{"type":"text","text":""}})",
                "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":"
                "\"h\xC3\xA9\"}}",
                R"({"type":"content_block_delta","delta":{"type":"text_delta","text":"llo"}})",
                R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":)"
                R"({"input_tokens":null,"output_tokens":5,"output_tokens_details":{"thinking_tokens":2}}})",
                R"({"type":"message_stop"})"});
  }
  return data_events(
      {R"({"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]}}],)"
       R"("usageMetadata":{"promptTokenCount":10},"modelVersion":"m-1","responseId":"r1"})",
       R"({"candidates":[{"content":{"parts":[{"text":"h\u00e9"}]}}]})",
       "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"llo\"}]},\"finishReason\":\"STOP\"}],"
       "\"usageMetadata\":{\"promptTokenCount\":10,\"candidatesTokenCount\":3,"
       "\"thoughtsTokenCount\":2}}"});
}

void expect_sample(const WireAnswer& answer, const std::string& where) {
  ASSERT_TRUE(answer.reply) << where << ": " << answer.malformed;
  EXPECT_EQ(answer.reply->text, "h\xC3\xA9llo") << where;
  EXPECT_EQ(answer.reply->finish_reason, "stop") << where;
  EXPECT_EQ(answer.reply->model, "m-1") << where;
  EXPECT_EQ(answer.reply->request_id, "r1") << where;
  EXPECT_TRUE(answer.usage_known) << where;
  EXPECT_EQ(answer.reply->usage.prompt_tokens, 10) << where;
  EXPECT_EQ(answer.reply->usage.completion_tokens, 5) << where;
  EXPECT_EQ(answer.reply->usage.reasoning_tokens, 2) << where;
}

TEST(WireStreams, GiveTheSameReplyWhereverTheyAreCut) {
  for (const std::string& name : wire_format_names()) {
    const WireFormat& format = format_named(name);
    const std::string body = sample_stream(name);
    expect_sample(stream_answer(format, body, 1), name + " byte by byte");
    for (std::size_t cut = 0; cut <= body.size(); ++cut) {
      const auto decoder = format.stream_decoder();
      decoder->feed(std::string_view(body).substr(0, cut));
      decoder->feed(std::string_view(body).substr(cut));
      expect_sample(decoder->finish(), name + " cut at " + std::to_string(cut));
    }
  }
}

TEST(WireStreams, AreWholeOrMalformedWhereverTheyBreakOff) {
  for (const std::string& name : wire_format_names()) {
    const std::string body = sample_stream(name);
    std::size_t whole = 0;
    for (std::size_t length = 0; length <= body.size(); ++length) {
      const WireAnswer answer =
          stream_answer(format_named(name), body.substr(0, length), length + 1);
      ASSERT_TRUE(exactly_one_outcome(answer)) << name << " " << length;
      ASSERT_FALSE(answer.error) << name << " " << length;
      if (answer.reply) {
        EXPECT_EQ(answer.reply->text, "h\xC3\xA9llo") << name << " " << length;
        ++whole;
      } else if (length > 20) {
        EXPECT_THAT(answer.malformed, HasSubstr("broke off after ")) << name << " " << length;
      }
    }
    EXPECT_GT(whole, 0U) << name;
    EXPECT_LT(whole, body.size() / 2) << name;
  }
}

TEST(WireStreams, TellATokenFromASignOfLife) {
  for (const std::string& name : wire_format_names()) {
    const std::string body = sample_stream(name);
    const auto decoder = format_named(name).stream_decoder();
    const std::size_t reasoning = body.find("hm");
    decoder->feed("\n\n: still here\n\n" + body.substr(0, reasoning));
    EXPECT_FALSE(decoder->has_content()) << name;
    decoder->feed(body.substr(reasoning, body.find("\n\n", reasoning) + 2 - reasoning));
    EXPECT_TRUE(decoder->has_content()) << name;
  }
}

} // namespace
} // namespace winnow::agents
