#pragma once

#include "tasks/task/task.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// The catalogue: $WINNOW_CATALOGUE, or tasks/catalogue as find_shipped() finds it. Throws
/// UsageError saying where it looked.
std::filesystem::path find_catalogue();

struct CatalogueEntry {
  std::string name;
  std::string category;
  std::filesystem::path folder;
};
/// Every task folder below `catalogue`, sorted by category and name (files are not parsed).
std::vector<CatalogueEntry> list_tasks(const std::filesystem::path& catalogue);
/// `name` is a name, category/name, or the path of a folder. Throws UsageError with the nearest
/// match.
Task find_task(const std::filesystem::path& catalogue, std::string_view name);
/// Like find_task(), for a name that somebody else wrote: it never opens a folder outside of the
/// catalogue.
Task find_listed_task(const std::filesystem::path& catalogue, std::string_view name);
/// The tasks of these names; the whole catalogue if there are no names. Throws like find_task().
std::vector<Task> find_tasks(const std::filesystem::path& catalogue,
                             const std::vector<std::string>& names);

} // namespace winnow::tasks
