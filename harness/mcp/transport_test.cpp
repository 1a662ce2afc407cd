// Lines of a client through pipes, and commands as children.
#include "base/error.h"
#include "base/unique_fd.h"
#include "harness/mcp/child_commands.h"
#include "harness/mcp/message_lines.h"
#include "harness/mcp/stdio_server.h"

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace winnow::harness {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

TEST(McpLines, AreTheSameHoweverTheBytesAreCut) {
  const std::string text = "one\n\ntwo three\nfour\r\ntoo long a line\nfive";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    MessageLines lines(9);
    std::vector<std::string> taken;
    const auto take = [&](std::string_view line, bool too_long) {
      taken.push_back(too_long ? "TOO LONG" : std::string(line));
    };
    for (std::size_t at = 0; at < text.size(); at += piece) {
      lines.add(std::string_view(text).substr(at, piece), take);
    }
    lines.finish(take);
    EXPECT_THAT(taken, ElementsAre("one", "two three", "four\r", "TOO LONG", "five")) << piece;
  }
}

struct Pipe {
  Pipe() {
    int pair[2];
    EXPECT_EQ(pipe(pair), 0);
    read_end.reset(pair[0]);
    write_end.reset(pair[1]);
  }
  UniqueFd read_end, write_end;
};

struct Client {
  Pipe in, out;
  StdioServer server{in.read_end.get(), out.write_end.get()};
  std::vector<std::string> lines;

  StdioServer::End serve() {
    return server.serve(100, [&](std::string_view line, bool) { lines.emplace_back(line); });
  }
};

TEST(McpStdio, EndsWithItsClient) {
  Client client;
  ASSERT_EQ(write(client.in.write_end.get(), "a\nb", 3), 3);
  client.in.write_end.reset();
  EXPECT_EQ(client.serve(), StdioServer::End::Closed);
  EXPECT_THAT(client.lines, ElementsAre("a", "b"));
}

TEST(McpStdio, EndsWhenNobodyReadsItsAnswers) {
  Client client;
  client.out.read_end.reset();
  EXPECT_EQ(client.serve(), StdioServer::End::Broken);
}

TEST(McpStdio, StopsAlsoWhileAClientDoesNotRead) {
  Client client;
  std::thread stopper([&] {
    std::this_thread::sleep_for(milliseconds(20));
    client.server.stop();
  });
  client.server.send(std::string(1U << 20U, 'x')); // more than a pipe holds
  EXPECT_EQ(client.serve(), StdioServer::End::Stopped);
  stopper.join();
}

class McpChild : public testing::Test {
protected:
  static CommandResult run(const std::string& script, const std::function<bool()>& goes_on,
                           std::vector<std::string>* lines = nullptr) {
    ChildCommands shell("/bin/sh", {"-c"}, {.output_bytes = 1000, .grace = milliseconds(50)});
    return shell.run({script}, {goes_on, [&](std::string_view line) {
                                  if (lines != nullptr) {
                                    lines->emplace_back(line);
                                  }
                                }});
  }
  static bool always() { return true; }
};

TEST_F(McpChild, IsReadUntilItEnds) {
  std::vector<std::string> lines;
  const CommandResult result =
      run("echo one; echo log >&2; exec 1>&-; sleep 0.03; exit 10", always, &lines);
  EXPECT_EQ(result.exit_code, 10);
  EXPECT_EQ(result.out, "one\n");
  EXPECT_EQ(result.err, "log\n");
  EXPECT_EQ(result.failure, "");
  EXPECT_THAT(lines, ElementsAre("one"));
}

TEST_F(McpChild, IsKilledWhenItPrintsTooMuchOrCrashes) {
  EXPECT_THAT(run("yes", always).failure, HasSubstr("printed"));
  EXPECT_THAT(run("yes >&2", always).failure, HasSubstr("printed"));
  EXPECT_THAT(run("kill -SEGV $$", always).failure, HasSubstr("SIGSEGV"));
}

TEST_F(McpChild, IsAskedToEndAndThenKilled) {
  for (const char* script : {"echo go; exec sleep 60", "trap '' INT; echo go; sleep 60"}) {
    std::vector<std::string> lines;
    const Clock::time_point begin = Clock::now();
    const CommandResult result = run(
        script, [&] { return lines.empty(); }, &lines);
    EXPECT_TRUE(result.cancelled);
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(20)) << script;
  }
}

TEST_F(McpChild, ThatCannotStartIsAnError) {
  ChildCommands missing("/nowhere/winnow", {});
  EXPECT_THROW(missing.run({"eval"}, {always, [](std::string_view) {}}), Error);
}

} // namespace
} // namespace winnow::harness
