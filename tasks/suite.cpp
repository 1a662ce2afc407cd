#include "tasks/suite.h"

#include "base/error.h"
#include "base/text.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <system_error>
#include <tuple>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

namespace fs = std::filesystem;

fs::path suite_folder(const fs::path& catalogue, const std::string& name) {
  std::error_code ignored;
  for (const fs::path& folder : {fs::path(name), catalogue / name}) {
    if (!name.empty() && fs::is_directory(folder, ignored)) {
      return fs::weakly_canonical(folder);
    }
  }
  std::vector<std::string> categories;
  for (const CatalogueEntry& entry : list_tasks(catalogue)) {
    categories.push_back(entry.category);
  }
  categories.erase(std::unique(categories.begin(), categories.end()), categories.end());
  throw UsageError(fmt::format("no suite '{}': neither a folder nor a category of '{}'{}",
                               to_valid_utf8(name), catalogue.string(),
                               suggestion(name, categories)),
                   "name a folder of tasks, such as `winnow tasks import` writes");
}

/// Problems come in the order of their numbers: 2_Softmax before 10_ReLU.
std::tuple<fs::path, long, fs::path> order_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return {folder.parent_path(), std::strtol(name.c_str(), nullptr, 10), folder};
}

std::vector<fs::path> task_folders(const fs::path& root) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(root, error)) {
    if (entry.path().filename() == "task.toml") {
      folders.push_back(entry.path().parent_path());
    }
  }
  if (error) {
    throw UsageError(fmt::format("cannot list '{}': {}", root.string(), error.message()));
  }
  std::sort(folders.begin(), folders.end(),
            [](const fs::path& a, const fs::path& b) { return order_of(a) < order_of(b); });
  return folders;
}

} // namespace

std::vector<SuiteTask> load_suite(const fs::path& catalogue, const std::string& name) {
  const fs::path root = suite_folder(catalogue, name);
  std::vector<SuiteTask> suite;
  std::map<std::string, fs::path> known;
  for (const fs::path& folder : task_folders(root)) {
    const fs::path below =
        folder == root ? fs::path(".") : fs::relative(folder.parent_path(), root);
    SuiteTask& one = suite.emplace_back();
    one.folder = below == "." ? "" : below.string();
    one.task = load_task(folder);
    const auto [other, is_new] = known.emplace(one.task.name, folder);
    if (!is_new) {
      throw UsageError(fmt::format("two tasks of the suite '{}' are named '{}': {} and {}", name,
                                   one.task.name, other->second.string(), folder.string()),
                       "rename one of the folders");
    }
  }
  if (suite.empty()) {
    throw UsageError("no tasks in the folder '" + root.string() + "'",
                     "name a folder of tasks, such as `winnow tasks import` writes");
  }
  return suite;
}

} // namespace winnow::tasks
