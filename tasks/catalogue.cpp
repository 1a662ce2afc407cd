#include "tasks/catalogue.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "tasks/parse/task_parse.h"
#include "tasks/task/task.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <system_error>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTaskFile = "task.toml";

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_task_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path / kTaskFile, ignored);
}

std::vector<fs::path> sorted_folders(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (is_folder(entry.path())) {
      folders.push_back(entry.path());
    }
  }
  if (error) {
    throw UsageError(fmt::format("cannot list '{}': {}", folder.string(), error.message()));
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

/// Throws UsageError if two categories have a task of this name.
std::optional<CatalogueEntry> listed_entry(const std::vector<CatalogueEntry>& entries,
                                           std::string_view name) {
  std::vector<CatalogueEntry> found;
  for (const CatalogueEntry& entry : entries) {
    if (name == entry.name || name == entry.category + "/" + entry.name) {
      found.push_back(entry);
    }
  }
  if (found.size() > 1) {
    throw UsageError(
        fmt::format("task '{}' is in {} and in {}", name, found[0].category, found[1].category),
        "Write category/name.");
  }
  return found.empty() ? std::nullopt : std::optional(found.front());
}

} // namespace

fs::path find_catalogue() {
  if (const char* configured = std::getenv("WINNOW_CATALOGUE");
      configured != nullptr && *configured != '\0') {
    if (!is_folder(configured) || list_tasks(configured).empty()) {
      throw UsageError(
          fmt::format("WINNOW_CATALOGUE names '{}', which is not a folder with tasks", configured),
          "set it to a folder that holds <category>/<task>/task.toml");
    }
    return configured;
  }
  if (const auto shipped = find_shipped("tasks/catalogue")) {
    return fs::absolute(*shipped);
  }
  throw UsageError("found no task catalogue: looked for tasks/catalogue " + shipped_places(),
                   "run in the source folder, or set WINNOW_CATALOGUE");
}

std::vector<CatalogueEntry> list_tasks(const fs::path& catalogue) {
  std::vector<CatalogueEntry> entries;
  for (const fs::path& category : sorted_folders(catalogue)) {
    for (const fs::path& folder : sorted_folders(category)) {
      if (is_task_folder(folder)) {
        entries.push_back({folder.filename().string(), category.filename().string(), folder});
      }
    }
  }
  return entries;
}

Task find_listed_task(const fs::path& catalogue, std::string_view name) {
  const std::vector<CatalogueEntry> entries = list_tasks(catalogue);
  if (const auto entry = listed_entry(entries, name)) {
    return load_task(entry->folder);
  }
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : entries) {
    names.push_back(entry.name);
  }
  throw UsageError(fmt::format("no task '{}' in '{}'{}", to_valid_utf8(name), catalogue.string(),
                               suggestion(name, names)),
                   "name a task of `winnow tasks list`, or a folder with a task.toml");
}

Task find_task(const fs::path& catalogue, std::string_view name) {
  if (const auto entry = listed_entry(list_tasks(catalogue), name)) {
    return load_task(entry->folder);
  }
  if (const fs::path folder(name); !name.empty() && is_task_folder(folder)) {
    return load_task(folder);
  }
  if (std::error_code ignored; !name.empty() && fs::is_directory(name, ignored)) {
    throw UsageError(fmt::format("{}: no such file", (fs::path(name) / "task.toml").string()),
                     "name a folder of a task; `winnow tasks new` begins one");
  }
  return find_listed_task(catalogue, name); // throws
}

std::vector<Task> find_tasks(const fs::path& catalogue, const std::vector<std::string>& names) {
  std::vector<Task> tasks;
  for (const std::string& name : names) {
    tasks.push_back(find_task(catalogue, name));
  }
  if (names.empty()) {
    for (const CatalogueEntry& entry : list_tasks(catalogue)) {
      tasks.push_back(load_task(entry.folder));
    }
  }
  return tasks;
}

} // namespace winnow::tasks
