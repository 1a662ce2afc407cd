// Runs against a scripted endpoint. Tests the messages when the endpoint fails, and that the key
// appears nowhere.
#include "base/files.h"
#include "tests/e2e/winnow_program.h"
#include "tests/fake_endpoint/fake_endpoint.h"

#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

using tests::chat_reply;
using tests::error_reply;
using tests::FakeEndpoint;
using tests::FakeReply;

constexpr const char* kKey = "sk-e2e-0123456789abcdef";

std::string axpy_kernel() {
  return read_file(project_folder() / "tasks/catalogue/blas/axpy/baseline.cu", 1U << 20U);
}

std::string axpy_reply() {
  return "Here it is:\n```cuda\n" + axpy_kernel() + "```\n";
}

struct LiveRun {
  ProgramResult result;
  TemporaryDirectory directory{"live"};
  std::string store() const { return directory.path() / "store.db"; }
};

// Runs one task with two proposals against `endpoint`.
void run_against(const FakeEndpoint& endpoint, LiveRun& run,
                 const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"run", "configs/live.toml", "--store", run.store(), "--name",
                                     "live"};
  for (const std::string& setting :
       {fmt::format("endpoint.base_url={}", endpoint.base_url()),
        std::string("endpoint.model=fake"), std::string("endpoint.timeout_seconds=2"),
        std::string("endpoint.api_key_env=OPENAI_API_KEY"), std::string("run.tasks=[\"axpy\"]"),
        std::string("run.proposals=2"), std::string("run.max_variants=1"),
        std::string("evaluation.time_budget=20ms")}) {
    arguments.insert(arguments.end(), {"--set", setting});
  }
  arguments.insert(arguments.end(), more.begin(), more.end());
  ProgramOptions options;
  options.environment["OPENAI_API_KEY"] = kKey;
  options.timeout = std::chrono::minutes(5); // builds with sanitizers are slow
  run.result = run_winnow(arguments, options);
}

bool folder_holds(const std::filesystem::path& folder, const std::string& text) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() &&
        read_file(entry.path(), 1U << 30U).find(text) != std::string::npos) {
      return true;
    }
  }
  return false;
}

TEST(LiveRun, RanksWhatTheEndpointAnswersAndKeepsTheKeyOut) {
  const FakeEndpoint endpoint({chat_reply("no code at all"), chat_reply(axpy_reply())});
  LiveRun run;
  run_against(endpoint, run);
  EXPECT_EQ(run.result.exit_code, 0) << run.result.err;
  ASSERT_EQ(endpoint.requests().size(), 2U);
  EXPECT_EQ(endpoint.requests()[0].header("authorization"), std::string("Bearer ") + kKey);
  EXPECT_NE(run.result.err.find("bad_reply"), std::string::npos) << run.result.err;
  EXPECT_NE(run.result.out.find("axpy"), std::string::npos) << run.result.out;
  const std::string everything =
      run.result.out + run.result.err + run_winnow({"export", "json", "--store", run.store()}).out;
  EXPECT_EQ(everything.find(kKey), std::string::npos);
  EXPECT_FALSE(folder_holds(run.directory.path(), kKey)) << "the key is in the store";
}

TEST(LiveRun, AWrongKeyStopsTheRunAndNamesTheVariable) {
  const FakeEndpoint endpoint({error_reply(401, "Incorrect API key provided")});
  LiveRun run;
  run_against(endpoint, run);
  EXPECT_EQ(run.result.exit_code, 1) << run.result.err;
  EXPECT_NE(run.result.err.find("OPENAI_API_KEY"), std::string::npos) << run.result.err;
  EXPECT_EQ(run.result.err.find(kKey), std::string::npos);
  EXPECT_NE(run.result.err.find("winnow resume live"), std::string::npos) << run.result.err;
}

TEST(LiveRun, ALimitOnCallsEndsItCleanly) {
  const FakeEndpoint endpoint({chat_reply(axpy_reply())});
  LiveRun run;
  run_against(endpoint, run, {"--set", "limits.calls=1"});
  EXPECT_EQ(run.result.exit_code, 5) << run.result.err;
  EXPECT_EQ(endpoint.requests().size(), 1U);
}

TEST(LiveRun, SurvivesRateLimitsAndServerErrors) {
  FakeReply busy = error_reply(429, "slow down");
  busy.headers.emplace_back("retry-after-ms", "10");
  const FakeEndpoint endpoint(
      {busy, error_reply(500, "oops"), chat_reply("no code"), chat_reply(axpy_reply())});
  LiveRun run;
  run_against(endpoint, run);
  EXPECT_EQ(run.result.exit_code, 0) << run.result.err;
  EXPECT_EQ(endpoint.requests().size(), 4U);
}

TEST(LiveRun, AsksOnceMoreForAReplyThatBreaksItsSchema) {
  const nlohmann::json structured{{"reasoning", "As it was."}, {"kernel_file", axpy_kernel()}};
  const FakeEndpoint endpoint({chat_reply("no JSON at all"), chat_reply(structured.dump())});
  LiveRun run;
  run_against(endpoint, run,
              {"--set", "endpoint.structured_output=true", "--set", "run.proposals=1"});
  EXPECT_EQ(run.result.exit_code, 0) << run.result.err;
  EXPECT_NE(run.result.err.find("axpy/0/0 correct"), std::string::npos) << run.result.err;
  ASSERT_EQ(endpoint.requests().size(), 2U);
  const auto first = nlohmann::json::parse(endpoint.requests()[0].body);
  EXPECT_EQ(first["response_format"]["json_schema"]["name"], "kernel_reply");
  const auto second = nlohmann::json::parse(endpoint.requests()[1].body)["messages"];
  EXPECT_EQ(second.at(second.size() - 2)["content"], "no JSON at all");
  EXPECT_NE(second.back()["content"].get<std::string>().find("not JSON"), std::string::npos);
}

TEST(LiveRun, GarbageEndsItWithAnExplanation) {
  FakeReply page;
  page.body = "<html><body>502 Bad Gateway</body></html>";
  page.content_type = "text/html";
  const FakeEndpoint endpoint({page});
  LiveRun run;
  run_against(endpoint, run);
  EXPECT_EQ(run.result.exit_code, 1) << run.result.err;
  EXPECT_NE(run.result.err.find("Bad Gateway"), std::string::npos) << run.result.err;
}

TEST(LiveRun, CtrlCSavesItAndSaysHowToResume) {
  FakeReply silence;
  silence.fault = FakeReply::Fault::NeverAnswer;
  const FakeEndpoint endpoint({silence});
  const TemporaryDirectory directory("interrupted");
  const std::string store = directory.path() / "store.db";
  ProgramOptions options;
  options.environment["OPENAI_API_KEY"] = kKey;
  options.timeout = std::chrono::milliseconds(60'000);
  process::ChildProcess child(
      winnow_command({"run", "configs/live.toml", "--store", store, "--name", "live", "--set",
                      "endpoint.base_url=" + endpoint.base_url(), "--set", "endpoint.model=fake",
                      "--set", "run.tasks=[\"axpy\"]", "--set", "evaluation.time_budget=20ms"},
                     options));
  for (int i = 0; endpoint.requests().empty() && child.running() && i < 3000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10)); // until the call is in flight
  }
  ASSERT_EQ(endpoint.requests().size(), 1U);
  kill(child.pid(), SIGINT);
  const process::ChildResult result = child.wait();
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_NE(result.err.find("winnow resume live"), std::string::npos) << result.err;
}

} // namespace
} // namespace winnow::test
