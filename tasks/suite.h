#pragma once

#include "tasks/task/task.h"

#include <filesystem>
#include <string>
#include <vector>

namespace winnow::tasks {

/// A problem of a suite.
struct SuiteTask {
  /// The folder that holds the task's folder, as a path below the suite: "level1". Empty: the
  /// suite's own folder. Of a suite file: the category.
  std::string folder;
  Task task;

  bool is_scaled() const { return tasks::is_scaled(task.source.flags); }
  bool is_flagged() const { return has_doubts(task.source.flags); }
};

/// The tasks of a suite. `name` is
/// - a folder, or a category of the catalogue: the tasks in it and in all folders below it, by path
///   and number,
/// - a TOML file with `tasks`, names of tasks or categories of the catalogue; "smoke" is
///   configs/suites/smoke.toml.
/// Throws UsageError if there is no such suite, or if two tasks have one name.
std::vector<SuiteTask> load_suite(const std::filesystem::path& catalogue, const std::string& name);

} // namespace winnow::tasks
