#pragma once

#include "tasks/task.h"

#include <filesystem>
#include <string>
#include <vector>

namespace winnow::tasks {

/// A problem of a suite.
struct SuiteTask {
  /// The folder that holds the task's folder, as a path below the suite: "level1". Empty: the
  /// suite's own folder.
  std::string folder;
  Task task;

  bool is_scaled() const { return tasks::is_scaled(task.source.flags); }
  bool is_flagged() const { return has_doubts(task.source.flags); }
};

/// The tasks in a folder and in all folders below it, by path and number. `name`: a folder, or a
/// category of the catalogue. Throws UsageError if there is none, or if two tasks have one name.
std::vector<SuiteTask> load_suite(const std::filesystem::path& catalogue, const std::string& name);

} // namespace winnow::tasks
