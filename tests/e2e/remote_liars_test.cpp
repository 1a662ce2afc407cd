// Workers that lie, as processes at a real broker. Their devices are simulated; the workers, the
// broker, the messages and the coordinator are real.
#include "base/files.h"
#include "base/text.h"
#include "remote/remote_devices.h"
#include "remote/testing/judges_fake.h"
#include "remote/testing/nats_server_fake.h"
#include "remote/transport_library.h"
#include "tests/e2e/winnow_program.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

using remote::test::NatsServerFake;
using testing::HasSubstr;

constexpr std::size_t kMostLog = std::size_t{1} << 20U;
constexpr std::size_t kMostJobsOfALiar = 40;
constexpr std::size_t kMostRequests = 400;
constexpr std::size_t kOutstanding = 6;

class RemoteLiars : public testing::Test {
protected:
  void SetUp() override {
    if (const std::string why = NatsServerFake::why_not(); !why.empty()) {
      GTEST_SKIP() << why;
    }
    server_ = std::make_unique<NatsServerFake>(std::vector<remote::WorkerIdentity>{
        {"a", "pool", true}, {"b", "pool", false}, {"liar", "pool", false}});
  }

  /// `lie`: empty: the worker is honest.
  void start_worker(const std::string& name, const std::string& lie, int job_ms) {
    process::Command command;
    command.argv = {WINNOW_SIMULATED_WORKERS,
                    "--broker",
                    server_->url(),
                    "--credentials",
                    server_->credentials_file(name),
                    "--job-ms",
                    std::to_string(job_ms),
                    "--log",
                    log_of(name)};
    if (!lie.empty()) {
      command.argv.insert(command.argv.end(), {"--lie", lie});
    }
    if (name == "a") {
      command.argv.emplace_back("--trusted");
    }
    command.limits.wall = std::chrono::minutes(10);
    workers_.push_back(std::make_unique<process::ChildProcess>(command));
  }
  std::string log_of(const std::string& name) const {
    return (directory_.path() / (name + ".jobs")).string();
  }
  std::size_t jobs_begun_by(const std::string& name) const {
    const std::string text = is_file(log_of(name)) ? read_file(log_of(name), kMostLog) : "";
    const std::vector<std::string_view> lines = split_lines(text);
    return static_cast<std::size_t>(std::count_if(
        lines.begin(), lines.end(), [](const auto& line) { return line.starts_with("begun"); }));
  }

  TemporaryDirectory directory_{"liars"};
  std::unique_ptr<NatsServerFake> server_;
  std::vector<std::unique_ptr<process::ChildProcess>> workers_;
};

class RemoteLiar : public RemoteLiars, public testing::WithParamInterface<std::string> {};

TEST_P(RemoteLiar, IsCaughtWithinFortyJobs) {
  start_worker("a", "", 0);
  start_worker("b", "", 0);
  start_worker("liar", GetParam(), 0);
  std::atomic<bool> is_caught{false};
  std::atomic<int> others{0};
  remote::test::Results results;
  {
    remote::RemoteDevices::Setup setup;
    setup.broker = server_->address_of("coordinator");
    setup.pool = "pool";
    setup.secret = "secret";
    setup.warn = [](const std::string&) {};
    const remote::RemoteDevices devices(remote::nats_transports(), std::move(setup));
    const auto evaluations = devices.evaluations(results.taker());
    evaluations->watch_quarantines([&](const std::string& worker) {
      is_caught = is_caught || worker == "liar";
      others += worker == "liar" ? 0 : 1;
    });
    for (std::size_t i = 0; i < kMostRequests && !is_caught; ++i) {
      evaluations->submit(remote::test::request_of("kernel " + std::to_string(i)));
      ASSERT_TRUE(results.wait_for(i + 1 - std::min(i + 1, kOutstanding), std::chrono::minutes(1)));
    }
    evaluations->stop();
  }
  EXPECT_TRUE(is_caught);
  EXPECT_EQ(others, 0) << "an honest worker was quarantined";
  const std::size_t jobs = jobs_begun_by("liar");
  EXPECT_LE(jobs, kMostJobsOfALiar);
  std::printf("a worker that %s: caught after %zu jobs\n", GetParam().c_str(), jobs);
}

INSTANTIATE_TEST_SUITE_P(Lies, RemoteLiar, testing::ValuesIn(remote::test::lies()),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

constexpr int kCalls = 24;

/// A run of so many kernels that are different texts.
std::string recorded_run(const TemporaryDirectory& folder) {
  const std::string baseline =
      read_file(project_folder() / "tasks/catalogue/blas/axpy/baseline.cu", kMostLog);
  std::string replies;
  for (int i = 0; i < kCalls; ++i) {
    const nlohmann::json call{{"schema", "winnow.call"},
                              {"version", 1},
                              {"key", fmt::format("axpy/{}/0", i)},
                              {"model", "recorded"},
                              {"reply", fmt::format("```cuda\n{}// kernel {}\n```\n", baseline, i)},
                              {"finish_reason", "stop"},
                              {"usage", {{"prompt_tokens", 1}, {"completion_tokens", 1}}}};
    replies += call.dump() + "\n";
  }
  write_file_atomic(folder.path() / "replies.jsonl", replies);
  const auto config = folder.path() / "run.toml";
  write_file_atomic(config,
                    fmt::format("[run]\nname = \"liars\"\ntasks = [\"axpy\"]\nstrategy = "
                                "\"best-of-n\"\nproposals = {}\nmax_variants = 1\nfinalists = "
                                "0\n[endpoint]\nkind = \"replay\"\nfile = \"replies.jsonl\"\n",
                                kCalls));
  return config.string();
}

class RunWithALiar : public RemoteLiars {
protected:
  ProgramResult winnow(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(),
                     {"--store", store_, "--broker", server_->url(), "--pool", "pool",
                      "--broker-credentials", server_->credentials_file("coordinator")});
    return run_winnow(arguments, {.timeout = std::chrono::minutes(3)});
  }
  int rows(const std::string& what) const {
    return SQLite::Database(store_, SQLite::OPEN_READONLY)
        .execAndGet("SELECT count(*) FROM " + what)
        .getInt();
  }
  /// One evaluation of each candidate counts, and none is the liar's.
  void expect_only_honest_evaluations() const {
    EXPECT_EQ(rows("candidates"), kCalls + 1);
    EXPECT_EQ(rows("evaluations WHERE ordinal = 0"), kCalls + 1);
    EXPECT_EQ(rows("evaluations WHERE ordinal = 0 AND worker NOT IN ('a', 'b')"), 0);
    EXPECT_EQ(rows("leaderboard AS l JOIN evaluations AS e ON e.candidate_id = l.candidate_id AND "
                   "e.ordinal = 0 WHERE e.worker NOT IN ('a', 'b')"),
              0);
  }
  /// As a coordinator of another run does that has caught the liar.
  void quarantine_liar() const {
    const auto transport =
        remote::nats_transports().coordinator(server_->address_of("coordinator"), "other");
    remote::PoolRules rules = remote::decode_pool_rules(transport->pool_rules("pool").value());
    rules.quarantined = {"liar"};
    transport->set_pool_rules("pool", encode(rules));
  }

  const std::string store_ = (directory_.path() / "store.db").string();
};

TEST_F(RunWithALiar, JudgesAgainWhatTheLiarJudgedBeforeItWasCaught) {
  start_worker("a", "", 40);
  start_worker("b", "", 40);
  start_worker("liar", "repeats its results", 20);
  const ProgramResult run = winnow({"run", recorded_run(directory_)});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("worker 'liar' is quarantined"));
  expect_only_honest_evaluations();
}

TEST_F(RunWithALiar, ReverifyAndResumeJudgeAgainWhatAnotherCoordinatorFoundOut) {
  start_worker("a", "", 20);
  start_worker("liar", "", 20);
  const ProgramResult run = winnow({"run", recorded_run(directory_)});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const int of_liar = rows("evaluations WHERE ordinal = 0 AND worker = 'liar'");
  ASSERT_GT(of_liar, 0);
  quarantine_liar();
  const std::string first =
      "leaderboard AS l JOIN evaluations AS e ON e.candidate_id = l.candidate_id AND e.ordinal = 0 "
      "WHERE l.rank IS NOT NULL AND e.worker = 'liar'";
  const int on_board = rows(first);
  const ProgramResult reverified = winnow({"reverify", "--top", "0"});
  EXPECT_EQ(rows(first), 0) << reverified.out << reverified.err;
  EXPECT_EQ(rows("evaluations WHERE superseded_by IS NOT NULL"), on_board);
  const ProgramResult resumed = winnow({"resume", "liars"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  expect_only_honest_evaluations();
  EXPECT_EQ(rows("runs WHERE status = 'finished'"), 1);
}

} // namespace
} // namespace winnow::test
