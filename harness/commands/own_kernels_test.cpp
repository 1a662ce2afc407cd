#include "base/error.h"
#include "base/files.h"
#include "harness/baseline/testing/gpu_lanes_fake.h"
#include "harness/commands/own_kernels.h"
#include "harness/report/board_report.h"
#include "harness/run/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using testing::HasSubstr;

tasks::Evaluation own_evaluation(tasks::Verdict verdict, double speedup) {
  tasks::Evaluation evaluation;
  evaluation.verdict = verdict;
  evaluation.stage = tasks::Stage::Done;
  evaluation.speedup = speedup;
  evaluation.score_ns = 1000;
  evaluation.device = "cpu";
  evaluation.device_name = "a cpu";
  evaluation.evaluator_version = 17;
  evaluation.started_at = "2026-11-20T09:44:26.123Z";
  return evaluation;
}

struct KernelsOfAPerson : testing::Test {
  OwnKernels open(const std::string& run) {
    tasks::Task task;
    task.name = task.digest = "axpy";
    return {kept, run, task, nlohmann::json::object()};
  }
  std::vector<store::LeaderboardRow> board(const std::string& run = "") const {
    store::LeaderboardQuery query;
    query.run = run;
    return store::RunStore(path, store::RunStore::Mode::ReadOnly).leaderboard(query);
  }

  TemporaryDirectory directory{"own-kernels-test"};
  std::string path = directory.path() / "store.db";
  CommandStore kept{path, CommandStore::Use::Keep};
};

TEST_F(KernelsOfAPerson, AreOnTheBoard) {
  OwnKernels own = open("alice");
  EXPECT_THAT(own.keep("a.cu", "a", own_evaluation(tasks::Verdict::Correct, 2)),
              HasSubstr("is candidate 1; `winnow leaderboard"));
  EXPECT_THAT(own.keep("b.cu", "b", own_evaluation(tasks::Verdict::Wrong, 0)),
              HasSubstr("which boards do not rank"));
  ASSERT_EQ(board("alice").size(), 1U);
  EXPECT_EQ(board().front().origin, "person");
  EXPECT_EQ(board().front().run, "alice");
  EXPECT_EQ(board().front().speedup, 2);
  EXPECT_THAT(format_leaderboard(board(), Format::Table), HasSubstr("alice"));
}

TEST_F(KernelsOfAPerson, KeepTheirFirstEvaluation) {
  open("alice").keep("a.cu", "a", own_evaluation(tasks::Verdict::Correct, 2));
  EXPECT_THAT(open("alice").keep("a.cu", "a", own_evaluation(tasks::Verdict::Correct, 9)),
              HasSubstr("a.cu: is in the store already as @1, and the first evaluation of a "
                        "kernel counts: this one is not added"));
  ASSERT_EQ(board().size(), 1U);
  EXPECT_EQ(board().front().speedup, 2);
}

TEST_F(KernelsOfAPerson, ThatAreOnTheBoardAlreadyPromiseNoRow) {
  const tasks::Evaluation fast = own_evaluation(tasks::Verdict::Correct, 2);
  open("alice").keep("w.cu", "w", own_evaluation(tasks::Verdict::Wrong, 0));
  open("alice").keep("a.cu", "a", fast);
  const std::string of_bob = open("bob").keep("a.cu", "a", fast);
  EXPECT_THAT(of_bob, HasSubstr("a.cu: is on the board already as @2 (by alice), and that row "
                                "stays; this evaluation is kept as @3"));
  EXPECT_THAT(of_bob, testing::Not(HasSubstr("winnow leaderboard")));
  EXPECT_EQ(board().size(), 1U);
  EXPECT_THAT(open("bob").keep("w.cu", "w", fast), HasSubstr("is candidate 4; `winnow leaderboard"))
      << "the first one has no row";
  tasks::Evaluation elsewhere = fast;
  elsewhere.device_name = "another cpu";
  EXPECT_THAT(open("carol").keep("a.cu", "a", elsewhere),
              HasSubstr("is candidate 5; `winnow leaderboard"));
}

TEST_F(KernelsOfAPerson, ThatTheMachineCouldNotJudgeAreNotStored) {
  EXPECT_THAT(open("alice").keep("a.cu", "a", own_evaluation(tasks::Verdict::Infrastructure, 0)),
              HasSubstr("not stored"));
  open("alice").keep("a.cu", "a", own_evaluation(tasks::Verdict::Correct, 3));
  EXPECT_EQ(board().size(), 1U);
}

TEST_F(KernelsOfAPerson, KeepEveryEvaluationOfABaseline) {
  const auto on = [](const char* uuid, double ns) { return test::evaluation_on({uuid, ns}); };
  open("gpus").keep_baseline("b", {on("GPU-1", 100), on("GPU-2", 101)});
  open("gpus").keep_baseline("b", {on("GPU-1", 102), on("GPU-3", 103)});
  open("gpus").keep_baseline("b", {});
  ASSERT_EQ(board().size(), 1U) << "only the first evaluation counts";
  EXPECT_EQ(board().front().origin, "baseline");
  const store::RunStore store(path, store::RunStore::Mode::ReadOnly);
  const auto spreads = store.gpu_spreads(board());
  ASSERT_EQ(spreads.size(), 1U);
  EXPECT_EQ(spreads[0].gpus, 3);
  EXPECT_EQ(spreads[0].evaluations, 4);
}

TEST_F(KernelsOfAPerson, AreNoSearchThatGoesOn) {
  open("alice");
  const store::RunStore store(path, store::RunStore::Mode::ReadOnly);
  try {
    resumed_config(*store.find_run("alice"), {}, {}, {});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("run 'alice' keeps the kernels of a person"));
  }
}

TEST_F(KernelsOfAPerson, DoNotJoinASearch) {
  store::RunStore(path, store::RunStore::Mode::ReadWrite)
      .create_run("quickstart", {{"tasks", {"axpy"}}}, nullptr);
  EXPECT_THROW(open("quickstart"), UsageError);
  EXPECT_THROW(open("1"), UsageError); // the number of the search
}

} // namespace
} // namespace winnow::harness
