// SIGKILL as soon as a replayed run, or a resumed one, has written a row of each kind: in the end
// every store holds what an uninterrupted run leaves, and no reply was asked for twice. RunLoopTest
// stops at every write, in process.
#include "base/files.h"
#include "tests/e2e/finished_run.h"
#include "tests/e2e/run_account.h"
#include "tests/e2e/winnow_program.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace winnow::test {
namespace {

/// The store holds so many of these rows.
struct Moment {
  const char* rows;
  int count;
};
// Of one store after another, in the order in which a run comes by. What is written together is
// here once.
const std::vector<std::vector<Moment>> kMoments{
    {{"runs", 0}, // there is a file
     {"model_calls", 1},
     {"candidates", 5},
     {"events WHERE kind = 'judged'", 9}}, // all of them
    {{"runs", 1}, {"model_calls WHERE status = 'ok'", 3}, {"evaluations", 7}, {"sittings", 1}}};

bool has_come(const Moment& moment, const std::string& store) {
  if (moment.count == 0 || !std::filesystem::exists(store)) {
    return std::filesystem::exists(store);
  }
  try {
    return SQLite::Database(store, SQLite::OPEN_READONLY)
               .execAndGet(std::string("SELECT count(*) FROM ") + moment.rows)
               .getInt() >= moment.count;
  } catch (const SQLite::Exception&) { // it is being created
    return false;
  }
}

std::vector<std::string> run_arguments(const std::string& store) {
  use_slow_baselines();
  return {"run", "tests/e2e/resume/resume.toml", "--store", store};
}

// Every answered call of the run, and what it cost.
std::set<std::string> calls(const std::string& store) {
  SQLite::Database database(store, SQLite::OPEN_READONLY);
  SQLite::Statement rows(database, "SELECT key, status, prompt_tokens + completion_tokens, "
                                   "length(reply) FROM model_calls");
  std::set<std::string> lines;
  while (rows.executeStep()) {
    const bool is_new =
        lines
            .insert(fmt::format("{} {} {} tokens, {} characters", rows.getColumn(0).getString(),
                                rows.getColumn(1).getString(), rows.getColumn(2).getInt64(),
                                rows.getColumn(3).getInt64()))
            .second;
    EXPECT_TRUE(is_new) << rows.getColumn(0).getString() << " was paid twice";
  }
  return lines;
}

std::vector<std::string> resume_arguments(const std::string& store) {
  return {"resume", "resume", "--store", store};
}

// The run, or what is left of it.
std::vector<std::string> arguments_to_go_on(const std::string& store) {
  if (has_come({"runs", 1}, store)) {
    return resume_arguments(store);
  }
  if (std::filesystem::exists(store)) { // killed before there was a run
    const ProgramResult refused = run_winnow(resume_arguments(store));
    EXPECT_TRUE(refused.exit_code == 1 || refused.exit_code == 2) << refused.err;
  }
  return run_arguments(store);
}

void go_on_and_kill(const std::string& store, const Moment& moment) {
  EXPECT_FALSE(has_come(moment, store)) << "the kill before came too late";
  process::ChildProcess child(winnow_command(arguments_to_go_on(store)));
  while (child.running() && !has_come(moment, store)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  kill(child.pid(), SIGKILL);
  const process::ChildResult result = child.wait();
  EXPECT_TRUE(has_come(moment, store)) << result.err;
}

TEST(Resume, ASigkillAtAnyMomentLosesNothing) {
  const TemporaryDirectory directory("resume");
  const std::string whole = finished_run().store;
  const std::set<std::string> expected = run_account(whole);
  ASSERT_EQ(expected.size(), 10U) << "two baselines and eight replies";
  const std::set<std::string> expected_calls = calls(whole);
  ASSERT_EQ(expected_calls.size(), 8U);

  for (const std::vector<Moment>& moments : kMoments) {
    const std::string store =
        directory.path() / fmt::format("killed{}.db", &moments - kMoments.data());
    for (const Moment& moment : moments) {
      SCOPED_TRACE(fmt::format("killed with {} {}", moment.count, moment.rows));
      go_on_and_kill(store, moment);
    }
    SCOPED_TRACE(store);
    const ProgramResult resumed = run_winnow(resume_arguments(store));
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_EQ(run_account(store), expected) << resumed.out << resumed.err;
    EXPECT_EQ(calls(store), expected_calls);
  }
}

TEST(Resume, KnowsTheTimeOfAFinal) {
  SQLite::Database database(finished_run().store.string(), SQLite::OPEN_READONLY);
  const auto latest = [&](const std::string& kind) {
    return database
        .execAndGet("SELECT max(json_extract(detail, '$.elapsed_seconds')) FROM events "
                    "WHERE kind = '" +
                    kind + "'")
        .getDouble();
  };
  EXPECT_GT(latest("final"), latest("session ended"));
}

} // namespace
} // namespace winnow::test
