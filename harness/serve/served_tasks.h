#pragma once

#include "tasks/task/task.h"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace winnow::harness {

/// The tasks that a server knows: those of the catalogue, and the folders that its user names. A
/// client can name no other folder. A task is read when somebody asks for it first.
class ServedTasks {
public:
  /// Throws UsageError or Error if a folder has no task, or if two folders have tasks of one name.
  ServedTasks(const std::filesystem::path& catalogue, const std::vector<std::string>& folders);

  /// `name`: "row_softmax" or "reduction/row_softmax". Throws UsageError with the nearest name,
  /// Error if the task is broken.
  std::shared_ptr<const tasks::Task> find(const std::string& name);
  std::vector<std::string> names() const; ///< without categories

private:
  struct Entry {
    std::filesystem::path folder;
    std::string category;
    std::shared_ptr<const tasks::Task> task; ///< nullptr: not read yet
  };
  std::map<std::string, Entry> entries_; ///< by name
};

} // namespace winnow::harness
