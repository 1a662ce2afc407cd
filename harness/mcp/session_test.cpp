// The server as a client meets it, with a double that runs no commands.
#include "harness/mcp/session.h"
#include "harness/mcp/testing/runner_fake.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class McpSessionTest : public testing::Test {
protected:
  McpSessionTest() { restart({}); }

  void restart(std::vector<std::string> server) {
    session = std::make_unique<McpSession>(McpSession::Setup{runner,
                                                             [this](const json& message) {
                                                               const std::lock_guard lock(mutex);
                                                               sent.push_back(message);
                                                             },
                                                             "1.2", std::move(server), 2});
  }
  void send(const json& message) { session->take(message.dump(), false); }
  void request(const json& id, const std::string& method, json params = json::object()) {
    send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
  }
  void initialize(const std::string& revision = "2025-11-25") {
    request("first", "initialize", {{"protocolVersion", revision}});
  }
  void start_call(const json& id, const std::string& tool, const json& arguments) {
    request(id, "tools/call", {{"name", tool}, {"arguments", arguments}});
  }
  /// The result of a call that ends by itself.
  json call(const std::string& tool, const json& arguments) {
    start_call(99, tool, arguments);
    session->wait_for_calls();
    return last()["result"];
  }
  json last() {
    const std::lock_guard lock(mutex);
    return sent.empty() ? json() : sent.back();
  }
  json error_of(const std::string& line) {
    session->take(line, false);
    return last()["error"];
  }

  test::RunnerFake runner;
  std::mutex mutex;
  std::vector<json> sent;
  std::unique_ptr<McpSession> session; // last: its threads use the other members
};

std::string text_of(const json& result) {
  return result["content"][0]["text"].get<std::string>();
}

TEST_F(McpSessionTest, SpeaksTheRevisionOfTheClientOrTheNewest) {
  initialize("2025-06-18");
  EXPECT_EQ(last()["result"]["protocolVersion"], "2025-06-18");
  EXPECT_EQ(last()["result"]["serverInfo"]["version"], "1.2");
  EXPECT_TRUE(last()["result"]["capabilities"].contains("tools"));
  restart({});
  initialize("2031-01-01");
  EXPECT_EQ(last()["result"]["protocolVersion"], "2025-11-25");
}

TEST_F(McpSessionTest, AnswersNothingButPingBeforeInitialize) {
  request(1, "tools/list");
  EXPECT_EQ(last()["error"]["code"], -32600);
  EXPECT_THAT(last()["error"]["message"], HasSubstr("initialize"));
  request(2, "ping");
  EXPECT_EQ(last()["result"], json::object());
  initialize();
  initialize();
  EXPECT_EQ(last()["error"]["code"], -32600) << "twice";
}

TEST_F(McpSessionTest, AnswersBadMessagesWithTheCodesOfJsonRpc) {
  initialize();
  EXPECT_EQ(error_of("{")["code"], -32700);
  EXPECT_EQ(error_of("\"\xff\"")["code"], -32700) << "not UTF-8";
  EXPECT_EQ(error_of(std::string("{\0}", 3))["code"], -32700);
  EXPECT_EQ(error_of(std::string(100'000, '['))["code"], -32700) << "too deep";
  EXPECT_FALSE(last().contains("id")) << "it is not known";
  for (std::size_t before = 0; before < 8; ++before) { // the message ends with a part of the text
    std::string umlauts(before, 'x');
    while (umlauts.size() < 300) {
      umlauts += "\xc3\xa4\xf0\x9f\x99\x82";
    }
    EXPECT_NO_THROW(error_of("{\"" + umlauts).dump());
  }
  EXPECT_EQ(error_of("7")["code"], -32600);
  EXPECT_THAT(error_of("[]")["message"], HasSubstr("batches"));
  EXPECT_EQ(error_of(R"({"id":1,"method":"ping"})")["code"], -32600);
  EXPECT_EQ(last()["id"], 1);
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})")["code"], -32600);
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":1,"method":2})")["code"], -32600);
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})")["code"], -32602);
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":1,"method":"pong"})")["code"], -32601);
  session->take("", true);
  EXPECT_THAT(last()["error"]["message"], HasSubstr("16 MiB"));
}

TEST_F(McpSessionTest, AnswersNoNotificationAndNoAnswer) {
  initialize();
  const std::size_t before = sent.size();
  send({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
  send({{"jsonrpc", "2.0"}, {"method", "notifications/nothing"}});
  send({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", 5}}}});
  send({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}});
  send({{"jsonrpc", "2.0"}, {"id", 5}, {"result", json::object()}});
  session->take("  ", false);
  EXPECT_EQ(sent.size(), before);
}

TEST_F(McpSessionTest, RefusesBadCalls) {
  initialize();
  for (const json& params :
       {json{{"arguments", json::object()}}, json{{"name", 7}}, json{{"name", "evaluat"}},
        json{{"name", "rules"}, {"arguments", json::array()}},
        json{{"name", "rules"}, {"_meta", {{"progressToken", 1.5}}}}}) {
    request(1, "tools/call", params);
    EXPECT_EQ(last()["error"]["code"], -32602) << params;
  }
  request(1, "tools/call", {{"name", "evaluat"}});
  EXPECT_THAT(last()["error"]["message"], HasSubstr("did you mean 'evaluate'?"));
  EXPECT_TRUE(runner.commands().empty());
}

TEST_F(McpSessionTest, ADocumentIsStructuredContentAndOneLineOfText) {
  initialize();
  runner.answer.out = "{\n  \"schema\": \"winnow.task\"\n}\n";
  const json result = call("describe_task", {{"task", "axpy"}});
  EXPECT_EQ(result["structuredContent"]["schema"], "winnow.task");
  EXPECT_EQ(text_of(result), "{\"schema\":\"winnow.task\"}");
  EXPECT_FALSE(result.contains("isError"));
  runner.answer.out = "[{}, {}]\n";
  EXPECT_EQ(call("rules", json::object())["structuredContent"]["items"].size(), 2U);
  runner.answer.out = "# Rules\n";
  EXPECT_EQ(text_of(call("rules", json::object())), "# Rules\n");
  EXPECT_FALSE(last()["result"].contains("structuredContent"));
}

TEST_F(McpSessionTest, AWrongKernelIsAnAnswerAndAFailureAnError) {
  initialize();
  const json arguments{{"task", "axpy"}, {"files", {"a.cu"}}};
  runner.answer = {10, R"({"verdict": "wrong"})", "", "", false};
  EXPECT_EQ(call("evaluate", arguments)["structuredContent"]["verdict"], "wrong");
  EXPECT_FALSE(last()["result"].contains("isError"));
  runner.answer = {2, R"({"error": "no task", "remedy": "name one", "exit_code": 2})", "", "",
                   false};
  EXPECT_EQ(text_of(call("evaluate", arguments)), "error: no task\nremedy: name one");
  EXPECT_TRUE(last()["result"]["isError"]);
  runner.answer = {3, "", "error: no device\nremedy: --device cpu\n", "", false};
  EXPECT_EQ(text_of(call("evaluate", arguments)), "error: no device\nremedy: --device cpu");
  runner.answer = {-1, "half", "stack", "killed by SIGSEGV", false};
  EXPECT_THAT(text_of(call("evaluate", arguments)), HasSubstr("killed by SIGSEGV: winnow eval"));
  EXPECT_EQ(last()["result"]["content"][1]["text"], "stack");
  EXPECT_TRUE(last()["result"]["isError"]);
}

TEST_F(McpSessionTest, PassesTheServerOn) {
  restart({"--server=http://judge:1"});
  initialize();
  call("describe_task", {{"task", "-x"}});
  EXPECT_THAT(
      runner.commands().front(),
      testing::ElementsAre("tasks", "show", "--json", "--server=http://judge:1", "--", "-x"));
}

TEST_F(McpSessionTest, ToolsAtAServerHaveNoArgumentsThatItDecides) {
  const auto arguments_of_rules = [&] {
    initialize();
    request(1, "tools/list");
    std::vector<std::string> names;
    const json answer = last();
    for (const json& tool : answer["result"]["tools"]) {
      if (tool["name"] == "rules") {
        for (const auto& property : tool["inputSchema"]["properties"].items()) {
          names.push_back(property.key());
        }
      }
    }
    return names;
  };
  EXPECT_THAT(arguments_of_rules(), testing::ElementsAre("device", "gpu", "task"));
  restart({"--server=http://judge:1"});
  EXPECT_THAT(arguments_of_rules(), testing::ElementsAre("task"));
  const json result = call("rules", {{"task", "axpy"}, {"gpu", "H100"}});
  EXPECT_TRUE(result["isError"]);
  EXPECT_THAT(text_of(result), HasSubstr("rules: 'gpu' cannot be chosen, because a server judges"));
  EXPECT_TRUE(runner.commands().empty());
}

TEST_F(McpSessionTest, CancelsOneCallAndAnswersOthersMeanwhile) {
  initialize();
  runner.holds = true;
  start_call("long", "rules", json::object());
  start_call(2, "rules", json::object());
  start_call(3, "rules", json::object());
  EXPECT_THAT(text_of(last()["result"]), HasSubstr("2 calls are running already"));
  request("long", "ping");
  EXPECT_THAT(last()["error"]["message"], HasSubstr("is being answered"));
  request(4, "ping");
  EXPECT_EQ(last()["id"], 4) << "no call blocks others";
  for (const char* id : {"none", "long"}) {
    send({{"jsonrpc", "2.0"},
          {"method", "notifications/cancelled"},
          {"params", {{"requestId", id}, {"reason", "late"}}}});
  }
  std::size_t answers = 0;
  do { // a call that is refused gets an answer
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    answers = sent.size();
    start_call(5, "rules", json::object());
  } while (sent.size() != answers && answers < 5000);
  EXPECT_LT(answers, 5000U) << "the cancelled call did not end";
  session.reset(); // ends the other calls
  EXPECT_EQ(std::count_if(sent.begin(), sent.end(),
                          [](const json& one) { return one.value("id", json()) == "long"; }),
            1)
      << "only the error about its id";
}

TEST_F(McpSessionTest, ReportsEachJudgedKernelAsProgress) {
  initialize();
  runner.lines = {"[", "  {", "    \"cases\": {", "  },", "  {", "  }", "]"};
  request(1, "tools/call",
          {{"name", "evaluate"},
           {"arguments", {{"task", "axpy"}, {"files", {"a.cu", "b.cu"}}}},
           {"_meta", {{"progressToken", "p"}}}});
  session->wait_for_calls();
  ASSERT_EQ(sent.size(), 4U);
  const json &first = sent[1]["params"], &second = sent[2]["params"];
  EXPECT_EQ(sent[1]["method"], "notifications/progress");
  EXPECT_EQ(first["progressToken"], "p");
  EXPECT_EQ(first["message"], "evaluate: 1/2 judged, 0 s");
  EXPECT_EQ(second["message"], "evaluate: 2/2 judged, 0 s");
  EXPECT_LT(first["progress"], second["progress"]);
  EXPECT_EQ(sent[3]["id"], 1);
}

} // namespace
} // namespace winnow::harness
