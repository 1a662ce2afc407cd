#include "tasks/suite.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/text/toml_reader.h"
#include "tasks/catalogue.h"
#include "tasks/parse/task_parse.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <system_error>
#include <tuple>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxSuiteBytes = 1U << 20U;

std::optional<fs::path> suite_folder(const fs::path& catalogue, const std::string& name) {
  std::error_code ignored;
  for (const fs::path& folder : {fs::path(name), catalogue / name}) {
    if (!name.empty() && fs::is_directory(folder, ignored)) {
      return fs::weakly_canonical(folder);
    }
  }
  return std::nullopt;
}

std::optional<fs::path> suite_file(const std::string& name) {
  if (name.ends_with(".toml")) {
    return name;
  }
  return name.empty() || name.find('/') != std::string::npos
             ? std::nullopt
             : find_shipped(fs::path("configs/suites") / (name + ".toml"));
}

[[noreturn]] void fail_unknown(const fs::path& catalogue, const std::string& name) {
  std::vector<std::string> known;
  std::string one_task;
  for (const CatalogueEntry& entry : list_tasks(catalogue)) {
    known.push_back(entry.category);
    if (entry.name == name) {
      one_task = "; it is a task: `winnow run --task " + name + "`";
    }
  }
  known.erase(std::unique(known.begin(), known.end()), known.end());
  if (const auto folder = find_shipped("configs/suites")) {
    for (const auto& entry : fs::directory_iterator(*folder)) {
      known.push_back(entry.path().stem().string());
    }
  }
  throw UsageError(
      fmt::format("no suite '{}': neither a folder, nor a category of '{}', nor a suite file{}{}",
                  to_valid_utf8(name), catalogue.string(), suggestion(name, known), one_task),
      "name a folder of tasks, such as `winnow tasks import` writes, or one of " +
          join(known, ", "));
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

std::vector<SuiteTask> tasks_below(const fs::path& root) {
  std::vector<SuiteTask> suite;
  for (const fs::path& folder : task_folders(root)) {
    const fs::path below =
        folder == root ? fs::path(".") : fs::relative(folder.parent_path(), root);
    suite.push_back({below == "." ? "" : below.string(), load_task(folder)});
  }
  if (suite.empty()) {
    throw UsageError("no tasks in the folder '" + root.string() + "'",
                     "name a folder of tasks, such as `winnow tasks import` writes");
  }
  return suite;
}

/// Throws UsageError with the position of the item if no task and no category has this name.
void check_known(const TomlReader& item, const std::string& name,
                 const std::vector<CatalogueEntry>& entries) {
  std::vector<std::string> known;
  for (const CatalogueEntry& entry : entries) {
    known.push_back(entry.name);
    if (!contains(known, entry.category)) {
      known.push_back(entry.category);
    }
    if (name == entry.category + "/" + entry.name) {
      return;
    }
  }
  std::error_code ignored;
  if (!contains(known, name) && !fs::exists(fs::path(name) / "task.toml", ignored)) {
    item.fail(
        {}, fmt::format("no task or category '{}'{}", to_valid_utf8(name), suggestion(name, known)),
        "a name from `winnow tasks list`, or a folder with a task.toml");
  }
}

std::vector<SuiteTask> tasks_listed(const fs::path& file, const fs::path& catalogue) {
  if (!fs::is_regular_file(file)) {
    throw UsageError(file.string() + ": no such suite file",
                     "name a TOML file with a list `tasks`, or a folder of tasks");
  }
  const TomlReader root =
      TomlReader::parse(read_file(file, kMaxSuiteBytes), file.lexically_normal().string());
  root.allow_keys({"tasks"});
  const std::vector<CatalogueEntry> known = list_tasks(catalogue);
  std::vector<SuiteTask> suite;
  const std::vector<TomlReader> items = root.list("tasks", "strings");
  const std::vector<std::string> names = root.strings("tasks");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const std::size_t before = suite.size();
    check_known(items[i], name, known);
    for (const CatalogueEntry& entry : known) {
      if (entry.category == name) {
        suite.push_back({name, load_task(entry.folder)});
      }
    }
    if (suite.size() == before) { // no category
      Task task = find_task(catalogue, name);
      suite.push_back({task.folder.parent_path().filename().string(), std::move(task)});
    }
  }
  if (suite.empty()) {
    root.fail("tasks", "no tasks", "names of tasks or categories");
  }
  return suite;
}

void check_names(const std::vector<SuiteTask>& suite, const std::string& name) {
  std::map<std::string, fs::path> known;
  for (const SuiteTask& one : suite) {
    const auto [other, is_new] = known.emplace(one.task.name, one.task.folder);
    if (!is_new) {
      throw UsageError(fmt::format("two tasks of the suite '{}' are named '{}': {} and {}", name,
                                   one.task.name, other->second.string(), one.task.folder.string()),
                       "rename one of the folders, or leave one out");
    }
  }
}

} // namespace

std::vector<SuiteTask> load_suite(const fs::path& catalogue, const std::string& name) {
  std::vector<SuiteTask> suite;
  if (const auto folder = suite_folder(catalogue, name)) {
    suite = tasks_below(*folder);
  } else if (const auto file = suite_file(name)) {
    suite = tasks_listed(*file, catalogue);
  } else {
    fail_unknown(catalogue, name);
  }
  check_names(suite, name);
  return suite;
}

} // namespace winnow::tasks
