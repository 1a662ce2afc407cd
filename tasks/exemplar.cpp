#include "tasks/exemplar.h"

#include "base/error.h"
#include "tasks/parse/task_parse.h"
#include "tasks/task/baseline.h"

#include <algorithm>
#include <vector>

namespace winnow::tasks {
namespace {

/// The folders beside the task's, by name, from the one behind it.
std::vector<std::filesystem::path> next_folders(const Task& task) {
  const std::filesystem::path own = (task.folder / "").lexically_normal().parent_path();
  const std::filesystem::path category =
      own.has_parent_path() ? own.parent_path() : std::filesystem::path(".");
  std::vector<std::filesystem::path> folders;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(category, error)) {
    if (entry.path().filename() != own.filename() &&
        std::filesystem::is_regular_file(entry.path() / kBaselineFile, error)) {
      folders.push_back(entry.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  const auto behind =
      std::find_if(folders.begin(), folders.end(), [&](const std::filesystem::path& folder) {
        return folder.filename() > own.filename();
      });
  std::rotate(folders.begin(), behind, folders.end());
  return folders;
}

} // namespace

std::optional<Exemplar> exemplar_for(const Task& task, std::string_view device_kind) {
  if (task.folder.empty()) {
    return std::nullopt;
  }
  for (const std::filesystem::path& folder : next_folders(task)) {
    try {
      Task other = load_task(folder);
      take_baseline_of(other, device_kind);
      return Exemplar{other.name, other.title, std::move(other.baseline)};
    } catch (const Error&) { // its own run reports the mistake
      continue;
    }
  }
  return std::nullopt;
}

} // namespace winnow::tasks
