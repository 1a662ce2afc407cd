#pragma once

#include "tasks/task.h"

#include <filesystem>
#include <string>
#include <vector>

namespace winnow::tasks {

/// The flag of a task whose sizes an import has cut (TaskSource::flags). It is no doubt about the
/// task.
constexpr std::string_view kScaledFlag = "scaled";

/// A problem of a suite.
struct SuiteTask {
  /// The folder that holds the task's folder, as a path below the suite: "level1". Empty: the
  /// suite's own folder.
  std::string folder;
  Task task;

  bool is_scaled() const;
  bool is_flagged() const; ///< there is a doubt about the task
};

/// The tasks in a folder and in all folders below it, by path and number. `name`: a folder, or a
/// category of the catalogue. Throws UsageError if there is none, or if two tasks have one name.
std::vector<SuiteTask> load_suite(const std::filesystem::path& catalogue, const std::string& name);

} // namespace winnow::tasks
