// Runs whose kernels are judged by worker processes at a real broker. Workers, coordinator and
// broker die by SIGKILL. In the end the store holds what an uninterrupted run on one machine
// leaves.
#include "base/files.h"
#include "remote/testing/nats_server_fake.h"
#include "tests/e2e/finished_run.h"
#include "tests/e2e/run_account.h"
#include "tests/e2e/winnow_program.h"

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::test {
namespace {

using remote::test::NatsServerFake;
using testing::HasSubstr;

int rows_of(const std::string& store, const std::string& table) {
  try {
    return SQLite::Database(store, SQLite::OPEN_READONLY)
        .execAndGet("SELECT count(*) FROM " + table)
        .getInt();
  } catch (const SQLite::Exception&) { // it is being created
    return 0;
  }
}

class RemoteRun : public testing::Test {
protected:
  void SetUp() override {
    if (const std::string why = NatsServerFake::why_not(); !why.empty()) {
      GTEST_SKIP() << why;
    }
    use_slow_baselines();
    server_ = std::make_unique<NatsServerFake>(std::vector<remote::WorkerIdentity>{
        {"a", "cpus", true}, {"b", "cpus", true}, {"c", "others", false}});
  }

  std::vector<std::string> with_broker(std::vector<std::string> arguments,
                                       const std::string& user) const {
    arguments.insert(arguments.end(), {"--broker", server_->url(), "--pool", "cpus",
                                       "--broker-credentials", server_->credentials_file(user)});
    return arguments;
  }
  std::unique_ptr<process::ChildProcess> start(const std::vector<std::string>& arguments) const {
    process::Command command = winnow_command(arguments);
    command.limits.wall = std::chrono::hours(1);
    return std::make_unique<process::ChildProcess>(command);
  }
  std::unique_ptr<process::ChildProcess> start_worker(const std::string& name) const {
    return start(with_broker({"worker", "--device", "cpu", "--trusted"}, name));
  }
  /// Waits until the store has so many rows, or the process has ended.
  static void wait_for_rows(process::ChildProcess& process, const std::string& store,
                            const std::string& table, int count) {
    while (process.running() && rows_of(store, table) < count) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_GE(rows_of(store, table), count);
  }

  std::unique_ptr<NatsServerFake> server_;
};

TEST_F(RemoteRun, SurvivesTheDeathOfWorkerCoordinatorAndBroker) {
  const TemporaryDirectory directory("remote");
  const std::string store = directory.path() / "store.db";
  auto a = start_worker("a"), b = start_worker("b");
  auto run =
      start(with_broker({"run", "tests/e2e/resume/resume.toml", "--store", store}, "coordinator"));
  wait_for_rows(*run, store, "evaluations", 2);
  kill(a->pid(), SIGKILL);
  a->wait();
  a = start_worker("a");
  wait_for_rows(*run, store, "evaluations", 4);
  kill(run->pid(), SIGKILL);
  run->wait();
  server_->kill();
  server_->restart(false);
  const ProgramResult resumed =
      run_winnow(with_broker({"resume", "resume", "--store", store}, "coordinator"),
                 {.timeout = std::chrono::minutes(5)});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(run_account(store), run_account(finished_run().store));
  EXPECT_EQ(rows_of(store, "(SELECT candidate_id FROM evaluations GROUP BY candidate_id HAVING "
                           "count(*) > 1)"),
            0);
  EXPECT_EQ(rows_of(store, "events WHERE kind = 'machine fault'"), 0);
  EXPECT_EQ(rows_of(store, "sittings"), 2) << resumed.err;
  EXPECT_EQ(rows_of(store, "sittings WHERE worker NOT IN ('a', 'b')"), 0);
  const std::string judged = "evaluation_overview WHERE verdict = 'correct'";
  EXPECT_GT(rows_of(store, judged), 0);
  EXPECT_EQ(rows_of(store, judged + " AND worker NOT IN ('a', 'b')"), 0);

  kill(b->pid(), SIGTERM);
  const process::ChildResult stopped = b->wait();
  EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("worker 'b' has finished"));
}

TEST_F(RemoteRun, SaysWhyAWorkerOrACoordinatorCannotBegin) {
  const ProgramResult wrong_pool = run_winnow({"broker", "workers", "--broker", server_->url()});
  EXPECT_EQ(wrong_pool.exit_code, 4);
  EXPECT_THAT(wrong_pool.err, HasSubstr("--broker-credentials"));
  const ProgramResult no_workers = run_winnow(with_broker({"broker", "workers"}, "coordinator"));
  EXPECT_EQ(no_workers.exit_code, 1);
  EXPECT_THAT(no_workers.out, HasSubstr("no worker has answered"));
  EXPECT_EQ(run_winnow(with_broker({"broker", "forget"}, "coordinator")).exit_code, 0);
  const ProgramResult other_pool = // "c" may work in another pool only
      run_winnow(with_broker({"worker", "--device", "cpu", "--name", "c"}, "c"));
  EXPECT_EQ(other_pool.exit_code, 4);
  EXPECT_THAT(other_pool.err, HasSubstr("refuses this user's request"));
  server_->kill();
  const ProgramResult no_broker =
      run_winnow(with_broker({"worker", "--device", "cpu", "--wait", "1s"}, "a"));
  EXPECT_EQ(no_broker.exit_code, 1);
  EXPECT_THAT(no_broker.err, HasSubstr("cannot connect to the broker"));
}

} // namespace
} // namespace winnow::test
