// Sessions of agents that are shell scripts.
#include "agents/endpoints/endpoint_factory.h"
#include "agents/sessions/testing/scripted_agent.h"
#include "agents/sessions/testing/session_probe.h"
#include "base/error.h"
#include "base/text.h"

#include <chrono>
#include <cstdlib>
#include <future>
#include <map>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Status = ModelReply::Status;

constexpr const char* kDone = R"(echo '{"is_error":false,"result":"Done.","total_cost_usd":0.5}')";

class AgentEndpointTest : public ScriptedAgentTest {};

TEST_F(AgentEndpointTest, TheBestKernelOfTheJudgeIsTheReply) {
  judge_.record = {"// ``` in a comment\nbest\n", 3};
  const ModelReply reply = claude(std::string("echo worse >kernel.cu\n") + kDone);
  EXPECT_EQ(reply.status, Status::Ok) << reply.error;
  EXPECT_EQ(reply.text, "````cuda\n// ``` in a comment\nbest\n````\n");
  EXPECT_EQ(reply.finish_reason, "stop");
  EXPECT_EQ(reply.dollars, 0.5);
  EXPECT_THAT(reply.notices, IsEmpty());
  EXPECT_THAT(judge_.opened, ElementsAre("axpy-0-3.1"));
  EXPECT_EQ(judge_.closed, judge_.opened);
  EXPECT_THAT(judge_.tasks, ElementsAre("axpy"));
  EXPECT_EQ(judge_.last_limits.evaluations, 20);
}

TEST_F(AgentEndpointTest, AKernelThatWasNeverJudgedIsTheReplyToo) {
  const ModelReply reply =
      claude("cat TASK.md kernel.cu AGENTS.md >&2\n[ -x judge ] && cat judge >&2\n"
             "echo second >>kernel.cu\necho \"$@\" >&2\n" +
             std::string(kDone));
  EXPECT_EQ(reply.text, "```cuda\nfirst\nsecond\n```\n");
  const std::string seen = kept("errors.txt");
  EXPECT_THAT(seen, HasSubstr("Make axpy fast."));
  EXPECT_THAT(seen, HasSubstr("How to read a verdict"));
  EXPECT_THAT(seen, HasSubstr(" \"$command\" axpy \"$@\" $form --server "));
  EXPECT_THAT(seen, HasSubstr("-p Read TASK.md in this folder"));
}

TEST_F(AgentEndpointTest, ItsWordsAreTheReplyToAnotherQuestion) {
  script("claude", "ls >&2\n" + std::string(kDone));
  AgentEndpoint endpoint(config_, {.agent = find_installed(find_agent("claude")),
                                   .judge = judge_,
                                   .sessions = transcripts(),
                                   .price = std::nullopt,
                                   .fenced = has_fence(),
                                   .bounds = {}});
  ModelRequest request = kernel_request();
  request.task.clear();
  std::promise<ModelReply> promise;
  endpoint.start(request, [&](ModelReply reply) { promise.set_value(std::move(reply)); });
  EXPECT_EQ(promise.get_future().get().text, "Done.");
  EXPECT_THAT(judge_.opened, IsEmpty());
  EXPECT_THAT(kept("errors.txt"), Not(HasSubstr("judge")));
}

constexpr std::string_view kTime = "'claude' was still at work after";

/// What an agent does, and what its session's end is called.
struct Ending {
  const char* name;
  const char* agent;
  const char* script;
  Status status;
  std::string_view says; ///< the error, or else the first notice
};

class EndingTest : public ScriptedAgentTest, public testing::WithParamInterface<Ending> {};

TEST_P(EndingTest, HasItsSentence) {
  const Ending& ending = GetParam();
  config_.session_time = std::chrono::milliseconds(ending.says == kTime ? 500 : 20'000);
  config_.dollars_per_session = 3;
  bounds_.folder.bytes = 1U << 20U;
  bounds_.output_bytes = 1U << 20U;
  script(ending.agent, ending.script);
  const ModelReply reply = session(ending.agent);
  EXPECT_EQ(reply.status, ending.status) << reply.error;
  const std::string said =
      reply.status == Status::Ok && !reply.notices.empty() ? reply.notices.front() : reply.error;
  EXPECT_THAT(said, HasSubstr(std::string(ending.says)));
  EXPECT_EQ(judge_.closed.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Sessions, EndingTest,
    testing::Values(
        Ending{"NoKernel", "claude", "echo '{\"result\":\"I give up.\"}'", Status::Ok,
               "ended without a kernel: it did not change kernel.cu"},
        Ending{"ALink", "claude", "ln -sf /etc/passwd kernel.cu; echo '{}'", Status::Ok,
               "its kernel.cu is no regular file"},
        Ending{"APipe", "claude", "rm kernel.cu; mkfifo kernel.cu; echo '{}'", Status::Ok,
               "its kernel.cu is no regular file"},
        Ending{"TooLarge", "claude", "head -c 300000 /dev/zero >kernel.cu", Status::Ok,
               "its kernel.cu has more than 262144 bytes"},
        Ending{"Removed", "claude", "rm kernel.cu", Status::Ok, "it removed kernel.cu"},
        Ending{"LoginOfClaude", "claude",
               "echo '{\"is_error\":true,\"result\":\"Not logged in\"}'; exit 1", Status::Failed,
               "'claude' is not logged in: Not logged in; start `claude` and log in"},
        Ending{"LoginOfGemini", "gemini",
               "echo '{\"error\":{\"message\":\"Please set an Auth method in x\"}}' >&2; exit 41",
               Status::Failed, "'gemini' is not logged in"},
        Ending{"LoginOfCodex", "codex",
               "echo '{\"type\":\"turn.failed\",\"error\":{\"message\":\"unexpected status 401 "
               "Unauthorized\"}}'; exit 1",
               Status::Failed, "`codex login`"},
        Ending{"Credit", "claude",
               "echo '{\"is_error\":true,\"result\":\"Credit balance is too low\"}'; exit 1",
               Status::Failed, "'claude' has no credit left"},
        Ending{"Asks", "claude", "echo '{\"permission_denials\":[{\"tool_name\":\"Bash\"}]}'",
               Status::Failed, "'claude' asked for a confirmation"},
        Ending{"Dollars", "claude", "echo '{\"subtype\":\"error_max_budget_usd\"}'; exit 1",
               Status::Ok, "'claude' reached its limit of dollars"},
        Ending{"Crash", "claude", "echo oops >&2; exit 7", Status::Failed,
               "'claude' exited with 7: oops"},
        Ending{"Signal", "claude", "kill -9 $$", Status::Failed, "'claude' killed by SIGKILL"},
        Ending{"Time", "claude", "sleep 100", Status::Ok, kTime},
        Ending{"Output", "claude", "yes", Status::Ok, "printed more than"},
        Ending{"Folder", "claude", "head -c 3000000 /dev/zero >attempts/big; sleep 100", Status::Ok,
               "the folder of 'claude' holds more than 1 MiB"},
        Ending{"FolderOfItsHome", "claude", "head -c 3000000 /dev/zero >~/big; sleep 100",
               Status::Ok, "holds more than 1 MiB"}),
    [](const auto& info) { return info.param.name; });

TEST_F(AgentEndpointTest, AKernelCountsWhateverEndedTheSession) {
  config_.session_time = std::chrono::milliseconds(500);
  config_.dollars_per_session = 3;
  const ModelReply reply = claude("echo mine >kernel.cu\nsleep 100");
  EXPECT_EQ(reply.status, Status::Ok);
  EXPECT_EQ(reply.text, "```cuda\nmine\n```\n");
  EXPECT_EQ(reply.finish_reason, "stop");
  ASSERT_TRUE(reply.estimated) << "it was killed before it said what it cost";
  EXPECT_EQ(reply.estimated->dollars, 3);
}

TEST_F(AgentEndpointTest, TheLimitsAndTheModelAreHandedToTheAgent) {
  config_.dollars_per_session = 2.5;
  script("claude", "echo \"$@\" >&2\n" + std::string(kDone));
  AgentEndpoint endpoint(config_, {.agent = find_installed(find_agent("claude")),
                                   .judge = judge_,
                                   .sessions = transcripts(),
                                   .price = std::nullopt,
                                   .fenced = has_fence(),
                                   .bounds = {}});
  ModelRequest request = kernel_request();
  request.model = "a-model";
  std::promise<ModelReply> promise;
  endpoint.start(request, [&](ModelReply reply) { promise.set_value(std::move(reply)); });
  EXPECT_EQ(promise.get_future().get().model, "a-model");
  EXPECT_THAT(kept("errors.txt"), HasSubstr("--model a-model --max-budget-usd 2.5"));
}

TEST_F(AgentEndpointTest, TokensHaveAPriceIfTheAgentNamesNoDollars) {
  script(
      "codex",
      R"(echo '{"type":"turn.completed","usage":{"input_tokens":1000000,"output_tokens":100000}}')");
  Price price;
  price.input = 1;
  price.output = 10;
  AgentEndpoint endpoint(config_, {.agent = find_installed(find_agent("codex")),
                                   .judge = judge_,
                                   .sessions = {},
                                   .price = price,
                                   .fenced = has_fence(),
                                   .bounds = {}});
  std::promise<ModelReply> promise;
  endpoint.start(kernel_request(), [&](ModelReply reply) { promise.set_value(std::move(reply)); });
  EXPECT_EQ(promise.get_future().get().dollars, 2);
}

TEST_F(AgentEndpointTest, ACancelledSessionEndsAtOnce) {
  script("claude", "echo half >kernel.cu\nsleep 100");
  config_.parallel = 1;
  AgentEndpoint endpoint(config_, {.agent = find_installed(find_agent("claude")),
                                   .judge = judge_,
                                   .sessions = {},
                                   .price = std::nullopt,
                                   .fenced = has_fence(),
                                   .bounds = {}});
  std::promise<ModelReply> running, waiting;
  endpoint.start(kernel_request(), [&](ModelReply reply) { running.set_value(std::move(reply)); });
  endpoint.start(kernel_request(), [&](ModelReply reply) { waiting.set_value(std::move(reply)); });
  endpoint.cancel_all();
  EXPECT_EQ(running.get_future().get().status, Status::Cancelled);
  EXPECT_EQ(waiting.get_future().get().status, Status::Cancelled);
}

TEST_F(AgentEndpointTest, NothingThatIsKeptHoldsAKey) {
  const std::string key = "sk-ant-0123456789abcdefghij", token = "a-token-of-the-login-0123456789";
  setenv("ANTHROPIC_API_KEY", key.c_str(), 1);
  fs::create_directories(home() / ".claude");
  write_file_atomic(home() / ".claude/.credentials.json", R"({"accessToken":")" + token + "\"}");
  const ModelReply reply = claude(R"(
mkdir -p ~/.claude/projects/x
{ echo "$ANTHROPIC_API_KEY"; cat ~/.claude/.credentials.json; echo; cat ~/winnow-token
  echo 'a line that stays'; echo 'ghp_0123456789abcdefghij'; } | tee ~/.claude/projects/x/t.jsonl >&2
echo "// $ANTHROPIC_API_KEY" >kernel.cu
echo "{\"result\":\"$ANTHROPIC_API_KEY\"}")");
  unsetenv("ANTHROPIC_API_KEY");
  EXPECT_EQ(reply.text, "```cuda\n// [key]\n```\n");
  for (const char* file : {"errors.txt", "output.txt", ".claude/projects/x/t.jsonl"}) {
    const std::string text = kept(file);
    for (const std::string& secret :
         {key, token, std::string("token-of-axpy"), std::string("ghp_")}) {
      EXPECT_THAT(text, Not(HasSubstr(secret))) << file;
    }
    EXPECT_FALSE(mode_if_shared(transcripts() / "axpy-0-3" / file));
  }
  EXPECT_THAT(kept(".claude/projects/x/t.jsonl"), HasSubstr("a line that stays"));
}

TEST_F(AgentEndpointTest, ASessionChangesNoOtherSessionsInstructions) {
  const std::string body =
      "grep -c . CLAUDE.md >&2; echo planted >CLAUDE.md; echo planted >AGENTS.md\n";
  claude(body + kDone);
  claude(body + kDone);
  EXPECT_EQ(kept("errors.txt"), read_file(transcripts() / "axpy-0-3.2/errors.txt", 1000));
}

/// Whether a process with this word in its command line runs.
bool runs(const std::string& word) {
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    std::error_code ignored;
    if (fs::exists(entry.path() / "cmdline", ignored)) {
      try {
        if (read_file(entry.path() / "cmdline", 1U << 20U).find(word) != std::string::npos) {
          return true;
        }
      } catch (const Error&) {
        continue; // it has ended
      }
    }
  }
  return false;
}

/// The kernel ends what is left in a fence a moment after the fence's own process.
bool ends(const std::string& word) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (runs(word) && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return !runs(word);
}

class LevelTest : public ScriptedAgentTest, public testing::WithParamInterface<bool> {
protected:
  void SetUp() override {
    if (GetParam() && !has_fence()) {
      GTEST_SKIP() << process::probe_session_fence().why;
    }
  }
};

TEST_P(LevelTest, NoProcessOutlivesItsSession) {
  const ModelReply reply =
      claude("for i in 1 2 3; do (setsid sleep 98765 >/dev/null 2>&1 &) ; done\n"
             "setsid bash -c 'trap : TERM HUP; sleep 98766' >/dev/null 2>&1 &\n"
             "sleep 0.1; echo mine >kernel.cu\n" +
                 std::string(kDone),
             GetParam());
  EXPECT_EQ(reply.status, Status::Ok) << reply.error;
  EXPECT_TRUE(ends("98765"));
  EXPECT_TRUE(ends("98766"));
}

TEST_P(LevelTest, AFileHasALimit) {
  bounds_.file_bytes = 1U << 20U;
  const ModelReply reply = claude(
      "head -c 3000000 /dev/zero >attempts/big\nstat -c %s attempts/big >&2\n" + std::string(kDone),
      GetParam());
  EXPECT_THAT(kept("errors.txt"), HasSubstr("1048576\n"));
}

TEST_P(LevelTest, TheFenceDecidesWhatASessionReaches) {
  std::map<std::string, bool> worked;
  for (const SessionAttempt& attempt : probe_session(GetParam())) {
    worked[attempt.name] = attempt.worked;
  }
  for (const char* always : {"read its own task", "write in its workspace", "write in its own home",
                             "read its settings", "renew its login", "read the names of hosts"}) {
    EXPECT_TRUE(worked.at(always)) << always;
  }
  for (const char* fenced :
       {"write its settings", "read a file of the user's home", "write in the user's home",
        "read another session's kernel", "write in another session", "read the store",
        "write beside the store", "signal Winnow"}) {
    EXPECT_EQ(worked.at(fenced), !GetParam()) << fenced;
  }
  for (const char* never : {"write in /usr", "change settings of the system"}) {
    EXPECT_FALSE(worked.at(never) && GetParam()) << never; // without a fence, root may
  }
  EXPECT_EQ(worked.size(), 17U);
}

INSTANTIATE_TEST_SUITE_P(Sessions, LevelTest, testing::Values(true, false),
                         [](const auto& info) { return info.param ? "Fenced" : "Unfenced"; });

TEST_F(AgentEndpointTest, TheFactoryTellsWhatIsMissing) {
  const auto refusal = [&](const EndpointSetup& setup) {
    try {
      make_endpoint(config_, setup);
    } catch (const UsageError& error) {
      return with_remedy(error);
    }
    return std::string("accepted");
  };
  config_.kind = "agent";
  EXPECT_THAT(refusal({&judge_, {}}), HasSubstr("needs endpoint.agent"));
  config_.agent = "clade";
  EXPECT_THAT(refusal({&judge_, {}}), HasSubstr("did you mean 'claude'?"));
  config_.agent = "claude";
  EXPECT_THAT(refusal({&judge_, {}}),
              HasSubstr("there is no program 'claude' in PATH; npm install -g"));
  EXPECT_FALSE(probe_endpoint(config_).ok);
  script("claude", "echo 9.9.9");
  EXPECT_THAT(refusal({}), HasSubstr("works in a run only"));
  EXPECT_EQ(refusal({&judge_, {}}), "accepted");
  EXPECT_THAT(probe_endpoint(config_).detail, HasSubstr("9.9.9, "));
}

TEST_F(AgentEndpointTest, AnOwnTableIsAnAgentToo) {
  fs::create_directories(home() / ".config/winnow");
  write_file_atomic(home() / ".config/winnow/agents.toml",
                    "[[agent]]\nname = \"mine\"\ncommand = [\"mine\", \"{workspace}\"]\n"
                    "prompt_on_stdin = true\n");
  script("mine", "cat >kernel.cu; cd /; cp \"$1/TASK.md\" \"$1/attempts\"; echo Done.");
  const ModelReply reply = session("mine");
  EXPECT_THAT(reply.text, HasSubstr("```cuda\nRead TASK.md in this folder"));
}

} // namespace
} // namespace winnow::agents::test
