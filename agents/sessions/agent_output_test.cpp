// The shapes of what agents print: of claude, gemini and codex as these versions printed them
// (configs/agents.toml names the versions), of opencode as its sources write them.
#include "agents/sessions/agent_adapter.h"
#include "agents/sessions/agent_output.h"
#include "base/error.h"
#include "base/files.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using testing::HasSubstr;

AgentOutput read_as(const std::string& name, const std::string& out) {
  const std::filesystem::path file =
      std::filesystem::path(WINNOW_SOURCE_DIR) / "configs/agents.toml";
  for (const AgentAdapter& agent : parse_agents(read_file(file, 1U << 20U), "agents.toml")) {
    if (agent.name == name) {
      return read_agent_output(agent.output, out);
    }
  }
  ADD_FAILURE() << "no agent " << name;
  return {};
}

TEST(AgentOutput, OfClaudeCountsEveryModel) {
  const AgentOutput output = read_as(
      "claude",
      R"({"type":"result","subtype":"success","is_error":false,"num_turns":9,"result":"Done.",)"
      R"("session_id":"5fb8ddec","total_cost_usd":0.75,"usage":{"input_tokens":1},"modelUsage":)"
      R"({"big":{"inputTokens":10,"outputTokens":200,"cacheReadInputTokens":3000,)"
      R"("cacheCreationInputTokens":400,"costUSD":0.7},"small":{"inputTokens":5,"outputTokens":6,)"
      R"("cacheReadInputTokens":0,"cacheCreationInputTokens":0}},"permission_denials":[]})"
      "\n");
  EXPECT_EQ(output.text, "Done.");
  EXPECT_EQ(output.session, "5fb8ddec");
  EXPECT_EQ(output.usage.prompt_tokens, 10 + 3000 + 400 + 5);
  EXPECT_EQ(output.usage.cached_tokens, 3000);
  EXPECT_EQ(output.usage.cache_write_tokens, 400);
  EXPECT_EQ(output.usage.completion_tokens, 206);
  EXPECT_EQ(output.dollars, 0.75);
  EXPECT_FALSE(output.failed);
  EXPECT_FALSE(output.asked);
}

TEST(AgentOutput, OfClaudeTellsThatItAskedOrFailed) {
  const AgentOutput output =
      read_as("claude", R"({"is_error":true,"result":"Not logged in","subtype":"success",)"
                        R"("permission_denials":[{"tool_name":"Bash"}]})");
  EXPECT_TRUE(output.failed);
  EXPECT_TRUE(output.asked);
  EXPECT_THAT(output.errors, HasSubstr("Not logged in"));
}

TEST(AgentOutput, OfCodexTakesMessagesAndNotReasoning) {
  const AgentOutput output = read_as("codex", R"({"type":"thread.started","thread_id":"01a2"}
{"type":"turn.started"}
{"type":"error","message":"Reconnecting... 2/5"}
{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"Done."}}
{"type":"item.completed","item":{"id":"item_1","type":"reasoning","text":"thoughts"}}
not JSON
{"type":"turn.completed","usage":{"input_tokens":26549,"cached_input_tokens":22272,"output_tokens":1590}}
)");
  EXPECT_EQ(output.text, "Done.");
  EXPECT_EQ(output.session, "01a2");
  EXPECT_EQ(output.usage.prompt_tokens, 26549);
  EXPECT_EQ(output.usage.cached_tokens, 22272);
  EXPECT_EQ(output.usage.completion_tokens, 1590);
  EXPECT_FALSE(output.dollars);
  EXPECT_THAT(output.errors, HasSubstr("Reconnecting"));
}

TEST(AgentOutput, OfGeminiBeginsBehindOtherLines) {
  const AgentOutput output = read_as("gemini", R"(YOLO mode is enabled.
{
  "session_id": "80f7",
  "response": "Done.",
  "stats": {"models": {"gemini-2.5-pro": {"api": {"totalRequests": 2},
    "tokens": {"prompt": 24939, "candidates": 20, "total": 25113, "cached": 21263, "thoughts": 154, "tool": 0}}}}
})");
  EXPECT_EQ(output.text, "Done.");
  EXPECT_EQ(output.usage.prompt_tokens, 24939);
  EXPECT_EQ(output.usage.cached_tokens, 21263);
  EXPECT_EQ(output.usage.completion_tokens, 174);
  EXPECT_EQ(output.usage.reasoning_tokens, 154);
}

TEST(AgentOutput, OfOpencodeAddsUpItsSteps) {
  const std::string step =
      R"({"type":"step_finish","sessionID":"ses_1","part":{"type":"step-finish","reason":"stop","cost":0.25,)"
      R"("tokens":{"input":100,"output":10,"reasoning":5,"cache":{"read":1000,"write":50}}}})"
      "\n";
  const AgentOutput output = read_as(
      "opencode",
      step + R"({"type":"text","sessionID":"ses_1","part":{"type":"text","text":"Done."}})" + "\n" +
          step);
  EXPECT_EQ(output.text, "Done.");
  EXPECT_EQ(output.session, "ses_1");
  EXPECT_EQ(output.usage.prompt_tokens, 2300);
  EXPECT_EQ(output.usage.completion_tokens, 30);
  EXPECT_EQ(output.dollars, 0.5);
}

TEST(AgentOutput, OfNonsenseIsEmpty) {
  for (const std::string& out :
       {std::string(), std::string("{"), std::string("{\"usage\":null}"),
        std::string(R"({"total_cost_usd":-1,"modelUsage":{"m":{"inputTokens":"9"}}})"),
        std::string(R"({"total_cost_usd":1e300})"), std::string(200'000, '[')}) {
    const AgentOutput output = read_as("claude", out);
    EXPECT_EQ(output.usage.tokens(), 0);
    EXPECT_FALSE(output.dollars);
  }
}

std::string mistake(const std::string& table) {
  try {
    parse_agents("[[agent]]\nname = \"a\"\n" + table, "agents.toml");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(AgentAdapter, NeedsACommandThatGetsAPrompt) {
  EXPECT_EQ(mistake("command = [\"a\", \"{prompt}\"]\n"), "accepted");
  EXPECT_EQ(mistake("command = [\"a\"]\nprompt_on_stdin = true\n"), "accepted");
  EXPECT_THAT(mistake("command = [\"a\"]\n"), HasSubstr("the agent gets no prompt"));
  EXPECT_THAT(mistake("command = []\n"), HasSubstr("the command is empty"));
}

TEST(AgentAdapter, ShowsNothingOutsideOfTheHomeByAWordForTheHome) {
  const std::string command = "command = [\"a\", \"{prompt}\"]\n";
  for (const char* path : {"/etc", "../x", ".", "a/../..", ""}) {
    EXPECT_THAT(mistake(command + "home_writable = [\"" + path + "\"]\n"),
                HasSubstr("is not below the home"))
        << path;
  }
  EXPECT_THAT(mistake(command + "[agent.output]\nform = \"xml\"\n"), HasSubstr("'xml'"));
  EXPECT_THAT(mistake(command + "[agent.output]\nform = \"json\"\ntext = [\"result\"]\n"),
              HasSubstr("is no place in JSON"));
}

} // namespace
} // namespace winnow::agents
