#include "store/test_store.h"

#include "store/testing/new_store.h"

#include <limits>

#include <SQLiteCpp/SQLiteCpp.h>
#include <nlohmann/json.hpp>

namespace winnow::store::testing {

namespace {

const std::filesystem::path& prepared(const std::filesystem::path& path) {
  put_new_store(path);
  return path;
}

} // namespace

TestStore::TestStore(const OpenOptions& options)
    : store(prepared(path), RunStore::Mode::ReadWrite, options),
      run(store.create_run("first", {{"calls", 3}}, {{"cpu", "test"}})),
      task(store.add_task(sample_task())) {}

RowId TestStore::add(const std::string& call_key, const std::string& text,
                     const std::vector<tasks::Evaluation>& evaluations) {
  CandidateRow row;
  row.call_key = call_key;
  row.origin = call_key.empty() ? "baseline" : "model";
  row.text = text;
  const RowId candidate = store.add_candidate(run, task, row);
  store.add_evaluations(candidate, evaluations);
  return candidate;
}

tasks::Task sample_task(const std::string& name) {
  tasks::Task task;
  task.name = name;
  task.category = "blas";
  task.title = "y = a x + y";
  task.axes = {{"n", "elements"}};
  tasks::TensorSpec x;
  x.name = "x";
  x.shape = {tasks::Expression::parse("n")};
  task.tensors = {x};
  tasks::Shape shape;
  shape.id = "tiny/0";
  shape.axes = {{"n", 7}};
  task.shapes = {shape};
  task.tolerance.multiple = tasks::Expression::parse("4");
  task.operations = tasks::Expression::parse("2 * n");
  task.bytes = tasks::Expression::parse("12 * n");
  task.reference = "// reference";
  task.baseline = "// baseline";
  task.digest = "digest of " + name;
  return task;
}

tasks::Evaluation correct_evaluation(double speedup) {
  tasks::Evaluation evaluation;
  evaluation.verdict = tasks::Verdict::Correct;
  evaluation.stage = tasks::Stage::Done;
  evaluation.notes = {"a note"};
  evaluation.parameters = {{"BLOCK", 128}, {"VEC", 4}};
  evaluation.build = {"build digest",
                      "clang++ 14",
                      true,
                      0.25,
                      "no warnings",
                      "sm_90a",
                      "code digest",
                      {{"axpy<128>", 32, 8, 16, 24, 1024}},
                      {{tasks::FindingKind::MutableGlobal, "counter (4 bytes)"}},
                      {"2 kernels"},
                      41.5,
                      2.5};
  evaluation.speedup = speedup;
  evaluation.score_ns = 1000 / speedup;
  evaluation.device = "cpu";
  evaluation.device_name = "Test CPU, 2 cores";
  evaluation.isolation = "bubblewrap";
  evaluation.evaluator_version = 7;
  evaluation.seed = std::numeric_limits<std::uint64_t>::max();
  evaluation.started_at = "2026-11-20T09:44:26.123Z";
  evaluation.seconds = 0.5;
  tasks::CaseResult timed;
  timed.stage = tasks::Stage::Time;
  timed.shape_id = "search/0";
  timed.set = tasks::ShapeSet::Search;
  timed.shape = "n=1000";
  timed.seed = std::numeric_limits<std::uint64_t>::max();
  timed.verdict = tasks::Verdict::Correct;
  timed.max_error_ratio = 0.5;
  timed.samples_ns = {101.5, 100.25, 0.1};
  timed.baseline_samples_ns = {201, 202};
  timed.median_ns = 100.25;
  timed.baseline_median_ns = 201.5;
  timed.speedup = 1.98;
  timed.prepare_ns = 12.5;
  tasks::CaseResult hidden;
  hidden.stage = tasks::Stage::Promotion;
  hidden.shape_id = "promotion/0";
  hidden.set = tasks::ShapeSet::Promotion;
  hidden.shape = "n=123457";
  hidden.verdict = tasks::Verdict::Correct;
  evaluation.cases = {timed, hidden};
  return evaluation;
}

tasks::Evaluation wrong_evaluation() {
  tasks::Evaluation evaluation = correct_evaluation(1);
  evaluation.verdict = tasks::Verdict::Wrong;
  evaluation.stage = tasks::Stage::Tiny;
  evaluation.detail = "y is wrong in the last tile";
  evaluation.speedup = 0;
  evaluation.score_ns = 0;
  evaluation.cases.resize(1);
  tasks::CaseResult& failed = evaluation.cases[0];
  failed.verdict = tasks::Verdict::Wrong;
  failed.max_error_ratio = std::numeric_limits<double>::infinity();
  failed.mismatch = tasks::Mismatch{"y",   3,     7,
                                    4,     "(4)", std::numeric_limits<double>::quiet_NaN(),
                                    -1.5,  1e-6,  std::numeric_limits<double>::infinity(),
                                    "tail"};
  return evaluation;
}

std::vector<std::string> query_file(const std::filesystem::path& path, const std::string& sql) {
  SQLite::Database database(path.string(), SQLite::OPEN_READONLY);
  SQLite::Statement statement(database, sql);
  std::vector<std::string> rows;
  while (statement.executeStep()) {
    std::string& row = rows.emplace_back();
    for (int i = 0; i < statement.getColumnCount(); ++i) {
      row += (i == 0 ? "" : "|") + statement.getColumn(i).getString();
    }
  }
  return rows;
}

} // namespace winnow::store::testing
