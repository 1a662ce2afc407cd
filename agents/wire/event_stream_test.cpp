#include "agents/wire/wire_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using testing::HasSubstr;

WireAnswer chat_stream(std::string_view body, std::size_t piece = 7) {
  return stream_answer(format_named("chat"), body, piece);
}

TEST(EventStreams, MayBeNoStreamAtAll) {
  const std::string plain = R"({"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]})";
  for (const std::string& body : {plain, "\n \r\n" + plain, "\xEF\xBB\xBF" + plain}) {
    for (const std::size_t piece : {std::size_t{1}, body.size()}) {
      const WireAnswer answer = chat_stream(body, piece);
      ASSERT_TRUE(answer.reply) << answer.malformed;
      EXPECT_EQ(answer.reply->text, "hi");
    }
  }
  const WireAnswer error = chat_stream(R"({"error":{"message":"m","code":503}})");
  ASSERT_TRUE(error.error);
  EXPECT_EQ(error.error->status, 503);
}

TEST(EventStreams, SayWhatCameInstead) {
  for (const std::string& name : wire_format_names()) {
    const auto malformed = [&](const std::string& body) {
      return stream_answer(format_named(name), body).malformed;
    };
    EXPECT_THAT(malformed("<html>Bad gateway</html>"), HasSubstr("\"<html>Bad gateway</html>\""));
    EXPECT_THAT(malformed("upstream connect error"), HasSubstr("\"upstream connect error\""));
    EXPECT_THAT(malformed(""), HasSubstr("an empty body"));
    EXPECT_THAT(malformed("\r\n\r\n"), HasSubstr("an empty body"));
    EXPECT_THAT(malformed(": ping\n\n"), HasSubstr("broke off after 0 bytes"));
    EXPECT_THAT(malformed("data: " + std::string(100000, '[') + "\n\n"), HasSubstr("nested"));
    EXPECT_THAT(malformed("data: {\"choices\n\ndata: {}\n\n"), HasSubstr("not JSON"));
    EXPECT_THAT(malformed("data: 7\n\ndata: null\n\ndata: []\n\n"), HasSubstr("broke off"));
  }
}

TEST(EventStreams, GiveUpOnAnEventThatIsTooLarge) {
  const auto decoder = format_named("chat").stream_decoder();
  decoder->feed("data: ");
  for (int i = 0; i < 17; ++i) {
    decoder->feed(std::string(1U << 20U, 'x'));
  }
  EXPECT_THAT(decoder->finish().malformed, HasSubstr("more than 16 MiB"));
}

TEST(EventStreams, ParseNoLongJsonThatTakesManyTimesItsSize) {
  const auto reason = [](const std::string& body) {
    const auto decoder = format_named("chat").stream_decoder();
    decoder->feed(body);
    return decoder->finish().malformed;
  };
  const std::size_t size = 40U << 20U;
  EXPECT_THAT(reason("{\"a\": \"" + std::string(size, 'x')),
              HasSubstr("a text of more than 8 MiB"));
  EXPECT_THAT(reason("{\"a\": \"" + std::string(size, '\\')), HasSubstr("a text of more than"));
  EXPECT_THAT(reason("{\"a\": [" + std::string(size, ' ')), HasSubstr("it is cut off"));
  std::string values = "{\"a\": [";
  while (values.size() < size) {
    values += "[],";
  }
  EXPECT_THAT(reason(values + "0]}"), HasSubstr("more than a million values"));
}

TEST(EventStreams, KeepAWholeReplyDespiteWhatFollows) {
  const WireAnswer answer = chat_stream(
      data_events({R"({"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]})", "{oops"}));
  ASSERT_TRUE(answer.reply) << answer.malformed;
  EXPECT_EQ(answer.reply->text, "hi");
}

TEST(EventStreams, ReplaceInvalidUtf8) {
  const WireAnswer answer = chat_stream(data_events(
      {"{\"choices\":[{\"delta\":{\"content\":\"a\xFF\"},\"finish_reason\":\"stop\"}]}"}));
  ASSERT_TRUE(answer.reply) << answer.malformed;
  EXPECT_EQ(answer.reply->text, "a\xEF\xBF\xBD");
}

} // namespace
} // namespace winnow::agents
