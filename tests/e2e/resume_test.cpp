// SIGKILL at random moments of a replayed run: after `winnow resume` every store holds what an
// uninterrupted run leaves, and no reply was asked for twice.
#include "base/files.h"
#include "tests/e2e/run_account.h"
#include "tests/e2e/winnow_program.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace winnow::test {
namespace {

constexpr int kKills = 20;
constexpr unsigned kSeed = 20;

std::vector<std::string> run_arguments(const std::string& store) {
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

TEST(Resume, ASigkillAtAnyMomentLosesNothing) {
  const TemporaryDirectory directory("resume");
  const std::string whole = directory.path() / "whole.db";
  const ProgramResult uninterrupted = run_winnow(run_arguments(whole));
  ASSERT_EQ(uninterrupted.exit_code, 0) << uninterrupted.err;
  const std::set<std::string> expected = run_account(whole);
  ASSERT_EQ(expected.size(), 10U) << "two baselines and eight replies";
  const std::set<std::string> expected_calls = calls(whole);
  ASSERT_EQ(expected_calls.size(), 8U);

  std::mt19937 random(kSeed);
  std::uniform_real_distribution<double> moment(0.0, uninterrupted.wall_seconds);
  for (int i = 0; i < kKills; ++i) {
    const std::string store = directory.path() / fmt::format("killed{}.db", i);
    const auto delay = std::chrono::milliseconds(static_cast<int>(1000 * moment(random)));
    ProgramOptions options;
    options.timeout = std::max(delay, std::chrono::milliseconds(1));
    run_winnow(run_arguments(store), options); // the time limit is a SIGKILL
    // A run that had not begun is started; one that had is continued.
    ProgramResult resumed = run_winnow({"resume", "resume", "--store", store});
    if (resumed.exit_code == 2 || resumed.exit_code == 1) {
      resumed = run_winnow(run_arguments(store));
    }
    ASSERT_EQ(resumed.exit_code, 0) << "killed after " << delay.count() << " ms\n" << resumed.err;
    EXPECT_EQ(run_account(store), expected) << "killed after " << delay.count() << " ms";
    EXPECT_EQ(calls(store), expected_calls) << "killed after " << delay.count() << " ms";
  }
}

} // namespace
} // namespace winnow::test
