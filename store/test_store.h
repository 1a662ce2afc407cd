#pragma once

#include "base/files.h"
#include "store/run_store.h"

#include <string>
#include <vector>

namespace winnow::store::testing {

/// A store in its own directory, with a run and a task.
struct TestStore {
  explicit TestStore(const OpenOptions& options = {});

  TemporaryDirectory directory{"store-test"};
  std::filesystem::path path = directory.path() / "store.db";
  RunStore store;
  RowId run;
  RowId task;

  RowId add(const std::string& call_key, const std::string& text,
            const std::vector<tasks::Evaluation>& evaluations);
};

tasks::Task sample_task(const std::string& name = "axpy");
/// Correct and timed, with one case of each kind.
tasks::Evaluation correct_evaluation(double speedup);
/// Wrong at one element, with a mismatch.
tasks::Evaluation wrong_evaluation();

/// The rows that another program (the sqlite3 shell) reads from the file; columns joined by '|'.
std::vector<std::string> query_file(const std::filesystem::path& path, const std::string& sql);

} // namespace winnow::store::testing
