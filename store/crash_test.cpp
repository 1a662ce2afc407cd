// The state of a store after its writer was killed.
#include "store/run_store.h"
#include "store/test_store.h"

#include <array>
#include <chrono>
#include <csignal>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace winnow::store {
namespace {

using testing::correct_evaluation;
using ::testing::ElementsAre;
using testing::query_file;
using testing::wrong_evaluation;

constexpr int kKills = 10;

/// Continues the run's work for ever. Writes a byte to `progress` after each write.
[[noreturn]] void work_until_killed(const std::filesystem::path& path, int progress) {
  RunStore store(path, RunStore::Mode::ReadWrite);
  const RowId run = store.find_run("run")->id;
  if (!store.lock_run(run)) {
    _exit(1);
  }
  const RowId task = store.add_task(testing::sample_task());
  const auto written = [&] {
    if (write(progress, "x", 1) != 1) {
      _exit(2);
    }
  };
  for (auto i = store.finished_calls(run).size();; ++i) {
    const std::string key = fmt::format("axpy/0/{}", i);
    const nlohmann::json request = {{"messages", {{{"role", "user"}, {"content", key}}}}};
    const RowId call = store.begin_call(run, task, key, "replay", "m", request);
    written();
    ModelCallRow outcome;
    outcome.status = "ok";
    outcome.text = key;
    store.finish_call(call, outcome);
    written();
    CandidateRow row;
    row.call_key = key;
    row.origin = "model";
    row.text = key;
    const RowId candidate = store.add_candidate(run, task, row);
    written();
    store.add_evaluations(candidate,
                          {correct_evaluation(2.0 + static_cast<double>(i)), wrong_evaluation()});
    written();
  }
}

/// Starts a writer and kills it shortly after its `writes`-th write. Returns the number of reported
/// writes.
std::int64_t run_and_kill(const std::filesystem::path& path, int writes,
                          std::chrono::microseconds extra) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    work_until_killed(path, ends[1]);
  }
  close(ends[1]);
  char byte = 0;
  std::int64_t reported = 0;
  while (reported < writes && read(ends[0], &byte, 1) == 1) {
    ++reported;
  }
  const auto moment = std::chrono::steady_clock::now() + extra;
  while (std::chrono::steady_clock::now() < moment) { // wait until the middle of the next write
  }
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself: " << status;
  while (read(ends[0], &byte, 1) == 1) {
    ++reported;
  }
  close(ends[0]);
  return reported;
}

void expect_consistent(const std::filesystem::path& path) {
  EXPECT_THAT(query_file(path, "PRAGMA integrity_check"), ElementsAre("ok"));
  EXPECT_TRUE(query_file(path, "PRAGMA foreign_key_check").empty());
  // Evaluations are complete: two per candidate, each with a case, samples and a standing.
  EXPECT_TRUE(query_file(path, "SELECT candidate_id FROM evaluations GROUP BY 1 "
                               "HAVING count(*) <> 2")
                  .empty());
  EXPECT_TRUE(query_file(path, "SELECT id FROM evaluations AS e WHERE "
                               "(SELECT count(*) FROM cases WHERE evaluation_id = e.id) <> "
                               "CASE ordinal WHEN 0 THEN 2 ELSE 1 END")
                  .empty());
  EXPECT_EQ(query_file(path, "SELECT count(*) FROM leaderboard"),
            query_file(path, "SELECT count(*) FROM evaluations WHERE ordinal = 0"));
  EXPECT_THAT(query_file(path, "SELECT count(*) FROM model_calls WHERE status = 'ok' AND "
                               "(reply IS NULL OR reply <> key)"),
              ElementsAre("0"));
}

TEST(Crash, AKilledWriterLosesNothingItReported) {
  const TemporaryDirectory directory("store-test");
  const std::filesystem::path path = directory.path() / "store.db";
  RunStore(path, RunStore::Mode::ReadWrite).create_run("run", nullptr, nullptr);
  std::mt19937 random(2); // the moments still differ between runs
  for (int i = 0; i < kKills; ++i) {
    const auto counts = "SELECT (SELECT count(*) FROM model_calls WHERE status = 'ok') + "
                        "(SELECT count(*) FROM model_calls) + (SELECT count(*) FROM candidates) + "
                        "(SELECT count(*) FROM evaluations) / 2";
    const std::int64_t before = std::stoll(query_file(path, counts).at(0));
    const std::int64_t reported = run_and_kill(path, 1 + static_cast<int>(random() % 12),
                                               std::chrono::microseconds(random() % 3000));
    const std::int64_t after = std::stoll(query_file(path, counts).at(0));
    expect_consistent(path);
    // A resumed writer repeats at most one begun call. It skips a call that was finished without a
    // candidate, so every other write adds a row.
    EXPECT_GE(after - before, reported - 1);
    EXPECT_LE(after - before, reported + 1) << "at most one write was done and not yet reported";
  }
  RunStore store(path, RunStore::Mode::ReadWrite);
  EXPECT_TRUE(store.lock_run(store.find_run("run")->id)) << "the killed writer's lock is gone";
}

} // namespace
} // namespace winnow::store
