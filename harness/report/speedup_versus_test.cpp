// Boards and exports of a task without a baseline.cu say that speedups are against PyTorch eager.
#include "base/files.h"
#include "harness/report/board_report.h"
#include "store/board/board.h"
#include "store/test_store.h"
#include "tasks/parse/task_parse.h"
#include "tasks/task/speedup_versus.h"
#include "tasks/testing/module_toml_fake.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using harness::export_run;
using harness::Format;
using harness::format_leaderboard;
using testing::correct_evaluation;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TestStore;

/// The catalogue's row_softmax with reference.py as its reference, and without a baseline.
tasks::Task torch_task() {
  const auto folder =
      std::filesystem::path(WINNOW_SOURCE_DIR) / "tasks" / "catalogue" / "reduction/row_softmax";
  const auto read = [&](const char* name) { return read_file(folder / name, 1U << 20U); };
  tasks::Task task = tasks::parse_task(
      {tasks::module_toml(read("task.toml")), "", "", read("reference.py")}, "task.toml");
  task.name = "row_softmax";
  return task;
}

/// A store with a correct kernel of a task without a baseline; TestStore::task has one.
struct VersusStore : TestStore {
  VersusStore() { task_with_baseline = std::exchange(task, store.add_task(torch_task())); }

  std::string board(Format format) const {
    auto rows = store.leaderboard({});
    return format_leaderboard(rows, format, board_facts(store, {}, rows));
  }

  RowId task_with_baseline;
};

TEST(SpeedupVersus, ABoardNamesTheFileThatWasMeasuredOnTheCpu) {
  TestStore t;
  tasks::Task task = torch_task();
  task.baseline = "// for GPUs";
  task.cpu_baseline = "// for the CPU";
  t.task = t.store.add_task(task);
  const RowId candidate = t.add("row_softmax/0/0", "// kernel", {correct_evaluation(1.5)});
  EXPECT_EQ(t.store.candidate_state(candidate).row.speedup_versus, "baseline.cpu.cu");
  auto rows = t.store.leaderboard({});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].speedup_versus, "baseline.cpu.cu");
  const std::string table = format_leaderboard(rows, Format::Table, board_facts(t.store, {}, rows));
  EXPECT_THAT(table, HasSubstr("(Test CPU, 2 cores), speedup over baseline.cpu.cu, "));
  EXPECT_THAT(table, HasSubstr("speedup: how many times as fast as baseline.cpu.cu (the median"));
  EXPECT_THAT(table, HasSubstr("1.50x as fast as baseline.cpu.cu (no interval)"));
  EXPECT_THAT(export_run(t.store, {}, Format::Markdown), HasSubstr("| 1.50x over baseline.cpu.cu"));
}

TEST(SpeedupVersus, AnOldEntryOfATaskLearnsOfTheBaselineForTheCpu) {
  TestStore t;
  tasks::Task task = torch_task();
  task.baseline = "// for GPUs";
  task.cpu_baseline = "// for the CPU";
  t.task = t.store.add_task(task);
  SQLite::Database(t.path.string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE tasks SET definition = '{}'"); // as an earlier version wrote it
  t.store.add_task(task);
  t.add("row_softmax/0/0", "// kernel", {correct_evaluation(1.5)});
  EXPECT_EQ(t.store.leaderboard({}).at(0).speedup_versus, "baseline.cpu.cu");
}

TEST(SpeedupVersus, ABoardOfATaskWithoutABaselineSaysSo) {
  VersusStore t;
  const RowId candidate = t.add("row_softmax/0/0", "// kernel", {correct_evaluation(1.5)});
  EXPECT_EQ(t.store.candidate_state(candidate).row.speedup_versus, "PyTorch eager");
  const std::string table = t.board(Format::Table);
  EXPECT_THAT(table, HasSubstr("row_softmax on cpu (Test CPU, 2 cores), speedup over PyTorch "
                               "eager, "));
  EXPECT_THAT(table, HasSubstr("speedup: how many times as fast as PyTorch eager (timed in the "
                               "same session, but not side by side); 95 %: the interval"));
  EXPECT_THAT(table, Not(HasSubstr("baseline.cu")));
  const auto rows = nlohmann::json::parse(t.board(Format::Json)).at("rows");
  EXPECT_EQ(rows.at(0).at("speedup_versus"), "PyTorch eager");
  EXPECT_THAT(t.board(Format::Csv), HasSubstr("PyTorch eager"));
}

TEST(TaskFlags, StandOnTheBoard) {
  TestStore t;
  tasks::Task flagged = torch_task();
  flagged.source.flags = {"scaled", "passes: zeros"};
  t.task = t.store.add_task(flagged);
  t.add("row_softmax/0/0", "// kernel", {correct_evaluation(1.5)});
  auto rows = t.store.leaderboard({});
  EXPECT_THAT(format_leaderboard(rows, Format::Table),
              HasSubstr("flags of the task: scaled; passes: zeros\n"));
  EXPECT_THAT(format_leaderboard(rows, Format::Csv), HasSubstr("passes: zeros"));
}

TEST(SpeedupVersus, BoardsOfBothKindsAreToldApart) {
  VersusStore t;
  t.add("row_softmax/0/0", "// kernel", {correct_evaluation(1.5)});
  t.task = t.task_with_baseline;
  t.add("", "// baseline", {correct_evaluation(1)});
  const std::string table = t.board(Format::Markdown);
  EXPECT_THAT(table, HasSubstr("## axpy on cpu (Test CPU, 2 cores), by baseline"));
  EXPECT_THAT(table, HasSubstr("## row_softmax on cpu (Test CPU, 2 cores), speedup over PyTorch"));
  EXPECT_THAT(table, HasSubstr("as fast as baseline.cu (the median ratio of launches side by "
                               "side), or where a board says so as fast as PyTorch eager"));
}

TEST(SpeedupVersus, FrameworksAreComparedWithEager) {
  VersusStore t;
  tasks::Evaluation evaluation = correct_evaluation(1.5);
  t.add("row_softmax/0/0", "// kernel", {evaluation});
  BaselineTiming timing;
  timing.name = "torch.compile";
  timing.version = "2.9.1";
  timing.device = evaluation.device;
  timing.device_name = evaluation.device_name;
  timing.error = "no compiler";
  t.store.add_baseline_timings(t.task, {timing});
  EXPECT_THAT(t.board(Format::Table),
              HasSubstr("torch.compile 2.9.1: not compared with PyTorch eager: "));
}

TEST(SpeedupVersus, AnExportSaysSoForEachCandidate) {
  VersusStore t;
  tasks::Evaluation slow_elsewhere = correct_evaluation(1.5);
  slow_elsewhere.promoted = false; // on no board
  t.add("row_softmax/0/0", "// kernel", {slow_elsewhere});
  t.task = t.task_with_baseline;
  t.add("axpy/0/0", "// other kernel", {correct_evaluation(1)});
  const auto document = nlohmann::json::parse(export_run(t.store, {}, Format::Json));
  const auto& candidates = document.at("candidates");
  EXPECT_EQ(candidates.at(0).at("evaluation").at("speedup_versus"), "PyTorch eager");
  EXPECT_FALSE(candidates.at(1).at("evaluation").contains("speedup_versus"));
  EXPECT_THAT(export_run(t.store, {}, Format::Markdown), HasSubstr("| 1.50x over PyTorch eager |"));
  const std::string csv = export_run(t.store, {}, Format::Csv);
  EXPECT_THAT(csv, HasSubstr(",speedup_high,speedup_versus,score_ns,"));
  EXPECT_THAT(csv, HasSubstr(",PyTorch eager,"));
  EXPECT_THAT(csv, HasSubstr(",baseline.cu,"));
}

TEST(SpeedupVersus, NothingMoreIsSaidWhereEveryTaskHasABaseline) {
  TestStore t;
  t.add("axpy/0/0", "// kernel", {correct_evaluation(1.5)});
  for (const Format format : {Format::Csv, Format::Markdown}) {
    EXPECT_THAT(export_run(t.store, {}, format), Not(HasSubstr("speedup_versus")));
    EXPECT_THAT(export_run(t.store, {}, format), Not(HasSubstr("PyTorch")));
  }
}

} // namespace
} // namespace winnow::store
