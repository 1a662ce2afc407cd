#include "agents/wire/sse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using testing::ElementsAre;

/// Each event as "name|data".
std::vector<std::string> events_of(std::string_view body, std::size_t piece = 1000) {
  std::vector<std::string> events;
  const auto take = [&](const SseEvent& event) { events.push_back(event.name + "|" + event.data); };
  SseParser parser;
  while (!body.empty()) {
    parser.feed(body.substr(0, piece), take);
    body.remove_prefix(std::min(piece, body.size()));
  }
  parser.finish(take);
  return events;
}

TEST(Sse, JoinsLinesAndSkipsComments) {
  EXPECT_THAT(events_of(": ping\n\nevent: a\ndata: 1\ndata:2\ndata\nid: 7\nretry: 5\nnonsense\n\n"
                        "data:  3\n\nevent: lost\n\ndata: 4\n\n"),
              ElementsAre("a|1\n2\n", "| 3", "|4"));
}

TEST(Sse, TakesEveryLineEndHoweverItIsCut) {
  const std::string lines = "\xEF\xBB\xBF"
                            "event: x~data: 1~data: 2~~: c~data: 3~~";
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    std::string body;
    for (const char c : lines) {
      body += c == '~' ? end : std::string(1, c);
    }
    for (std::size_t piece = 1; piece <= body.size(); ++piece) {
      EXPECT_THAT(events_of(body, piece), ElementsAre("x|1\n2", "|3"))
          << end.size() << " " << piece;
    }
  }
}

TEST(Sse, TakesAnEventThatLacksItsEnd) {
  EXPECT_THAT(events_of("data: 1\n\ndata: 2"), ElementsAre("|1", "|2"));
  EXPECT_THAT(events_of("data: 1\n\nevent: 2"), ElementsAre("|1"));
}

TEST(Sse, StopsAtAnEventThatIsTooLarge) {
  const auto overflows = [](std::size_t bytes, const std::string& prefix) {
    SseParser parser;
    int events = 0;
    const std::string line = prefix + std::string(1U << 20U, 'x') + "\n";
    for (std::size_t sent = 0; sent < bytes; sent += 1U << 20U) {
      parser.feed(line, [&](const SseEvent&) { ++events; });
    }
    parser.feed("\n\ndata: 1\n\n", [&](const SseEvent&) { ++events; });
    parser.finish([&](const SseEvent&) { ++events; });
    EXPECT_EQ(events == 0, parser.overflowed());
    return parser.overflowed();
  };
  EXPECT_FALSE(overflows(SseParser::kMaxEventBytes / 2, "data: "));
  EXPECT_TRUE(overflows(2 * SseParser::kMaxEventBytes, "data: "));
  EXPECT_FALSE(overflows(2 * SseParser::kMaxEventBytes, ": ")) << "comments are not kept";

  SseParser one_line;
  for (int i = 0; i < 20; ++i) {
    one_line.feed(std::string(1U << 20U, 'x'), [](const SseEvent&) {});
  }
  EXPECT_TRUE(one_line.overflowed());
}

TEST(Sse, KnowsWhetherItIsAStream) {
  const auto recognised = [](std::string_view body) {
    SseParser parser;
    parser.feed(body, [](const SseEvent&) {});
    parser.finish([](const SseEvent&) {});
    return parser.recognised();
  };
  EXPECT_TRUE(recognised(": ping"));
  EXPECT_TRUE(recognised("id: 3\n"));
  EXPECT_FALSE(recognised("upstream connect error\n\n"));
  EXPECT_FALSE(recognised(""));
}

} // namespace
} // namespace winnow::agents
