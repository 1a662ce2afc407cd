// The recording behind the quickstart holds what models really send: each kind of mistake is there
// and gets its verdict, and later replies improve on earlier ones.
#include "base/files.h"
#include "tests/e2e/winnow_program.h"

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

TEST(Quickstart, EndsWithARankedLeaderboardOfAllSixTasks) {
  const TemporaryDirectory directory("quickstart");
  const std::string store = directory.path() / "quickstart.db";
  ProgramOptions options;
  options.timeout = std::chrono::minutes(10);
  const ProgramResult run =
      run_winnow({"run", "configs/quickstart.toml", "--store", store, "--set", "run.max_variants=1",
                  "--set", "evaluation.time_budget=40ms"},
                 options);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json all = json_output(run_winnow({"export", "json", "--store", store}));
  std::map<std::string, int> tried;
  std::set<std::string> improved, verdicts;
  for (const nlohmann::json& candidate : all.at("candidates")) {
    const std::string task = candidate.value("task", "");
    tried[task] += candidate.value("origin", "") == "model" ? 1 : 0;
    verdicts.insert(candidate.value("verdict", ""));
    const nlohmann::json& evaluation = candidate.at("evaluation");
    if (!evaluation.is_null() && candidate.value("origin", "") == "model" &&
        candidate.value("verdict", "") == "correct" && evaluation.value("speedup", 0.0) > 1.2) {
      improved.insert(task);
    }
  }
  EXPECT_EQ(tried.size(), 6U);
  for (const auto& [task, count] : tried) {
    EXPECT_GE(count, 6) << task;
  }
  EXPECT_GE(improved.size(), 5U) << "axpy is bound by memory, the others are not";
  for (const char* verdict : {"bad_reply", "bad_plan", "compile_error", "out_of_bounds", "wrong",
                              "modified_input", "wrong_unseen", "unsupported", "correct"}) {
    EXPECT_TRUE(verdicts.contains(verdict)) << verdict;
  }
}

} // namespace
} // namespace winnow::test
