// `winnow mcp` as an agent starts it: the real program, which runs itself for each call.
#include "process/child_process.h"
#include "tests/e2e/winnow_program.h"

#include <chrono>
#include <csignal>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Mcp : public testing::Test {
protected:
  json ask(const std::string& method, const json& params) {
    send(method, params);
    return json::parse(server.read_line(std::chrono::seconds(60)).value_or("{}"));
  }
  void send(const std::string& method, const json& params) {
    const json message{{"jsonrpc", "2.0"}, {"id", ++id}, {"method", method}, {"params", params}};
    server.write(message.dump() + "\n", std::chrono::seconds(10));
  }
  void initialize() { ask("initialize", {{"protocolVersion", "2025-11-25"}}); }

  process::ChildProcess server{winnow_command({"mcp"})};
  int id = 0;
};

TEST_F(Mcp, AnswersWithTheOutputOfCommands) {
  initialize();
  const json task =
      ask("tools/call", {{"name", "describe_task"}, {"arguments", {{"task", "axpy"}}}});
  EXPECT_EQ(task["result"]["structuredContent"]["name"], "axpy") << task;
  const json unknown =
      ask("tools/call", {{"name", "describe_task"}, {"arguments", {{"task", "axpi"}}}});
  EXPECT_TRUE(unknown["result"]["isError"]);
  EXPECT_THAT(unknown["result"]["content"][0]["text"].get<std::string>(),
              HasSubstr("did you mean 'axpy'?"));
  server.close_stdin();
  EXPECT_EQ(server.wait().exit_code, 0);
}

TEST_F(Mcp, EndsWithItsCallsOnSigterm) {
  initialize();
  send("tools/call",
       {{"name", "evaluate"},
        {"arguments",
         {{"task", "axpy"}, {"files", {"tests/buggy/no_guard.cu"}}, {"device", "cpu"}}}});
  ask("ping", json::object());
  ::kill(server.pid(), SIGTERM);
  const process::ChildResult result = server.wait();
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_EQ(result.out, "") << "nobody waits for an answer";
  EXPECT_LT(result.wall_seconds, 30);
}

} // namespace
} // namespace winnow::test
