#include "harness/named/named_task.h"

#include "base/error.h"
#include "base/text/shell_word.h"
#include "harness/report/terminal.h"
#include "store/task_notes.h"
#include "tasks/catalogue.h"
#include "tasks/parse/task_parse.h"
#include "tasks/reference_check.h"
#include "tasks/task_word.h"

#include <filesystem>
#include <map>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

bool is_bare_name(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos;
}

/// Empty if there is no store, or if it does not know the folder.
std::string remembered_folder(const std::string& name, CommandStore& store) {
  try {
    return store::task_folder(store.to_read(), name);
  } catch (const Error&) {
    return {}; // no store, one that the command is to create, or one that cannot be read
  }
}

tasks::Task load_remembered(const std::string& name, const std::string& folder) {
  std::error_code ignored;
  if (!fs::exists(fs::path(folder) / "task.toml", ignored)) {
    throw UsageError("the task '" + name + "' was in the folder " + folder +
                         ", which has no task.toml now",
                     "name the folder where the task is now");
  }
  return tasks::load_task(folder);
}

tasks::Task checked(tasks::Task task, TaskUse use) {
  if (use == TaskUse::Judge) {
    tasks::check_reference(task);
  }
  return task;
}

tasks::Task found_task(const std::string& name, CommandStore& store) {
  try {
    return tasks::find_task(tasks::find_catalogue(), name);
  } catch (const UsageError&) {
    const std::string folder =
        is_bare_name(name) && !fs::exists(name) ? remembered_folder(name, store) : std::string();
    if (folder.empty()) {
      throw;
    }
    return load_remembered(name, folder);
  }
}

/// The folders that the command line has named, by the task's name.
std::map<std::string, std::string>& given_folders() {
  static std::map<std::string, std::string> folders;
  return folders;
}

} // namespace

tasks::Task named_task(const std::string& name, CommandStore& store, TaskUse use) {
  return checked(found_task(name, store), use);
}

tasks::Task named_task(const std::string& name, const std::string& store, TaskUse use) {
  CommandStore read(store);
  return named_task(name, read, use);
}

std::vector<tasks::Task> named_tasks(const std::vector<std::string>& names,
                                     const std::string& store) {
  std::vector<tasks::Task> tasks;
  if (names.empty()) {
    for (tasks::Task& task : tasks::find_tasks(tasks::find_catalogue(), {})) {
      tasks.push_back(checked(std::move(task), TaskUse::Judge));
    }
  }
  for (const std::string& name : names) {
    tasks.push_back(named_task(name, store));
  }
  return tasks;
}

tasks::Task task_of_store(const store::RunStore& store, const std::string& name, TaskUse use) {
  std::error_code ignored;
  if (const auto given = given_folders().find(name);
      given != given_folders().end() &&
      fs::exists(fs::path(given->second) / "task.toml", ignored)) {
    return checked(tasks::load_task(given->second), use);
  }
  const std::string folder = store::task_folder(store, name);
  return checked(folder.empty() ? tasks::find_listed_task(tasks::find_catalogue(), name)
                                : load_remembered(name, folder),
                 use);
}

std::string word_of_store(const store::RunStore& store, const std::string& name) {
  const std::string folder = store::task_folder(store, name);
  return folder.empty() ? shell_word(name) : tasks::folder_word(folder);
}

std::string name_in_stores(const std::string& given) {
  std::error_code ignored;
  const bool is_path = !is_bare_name(given) || fs::exists(fs::path(given) / "task.toml", ignored);
  if (given.empty() || !is_path) {
    return given;
  }
  const fs::path folder = tasks::absolute_folder(given);
  if (fs::exists(folder / "task.toml", ignored)) {
    given_folders()[folder.filename().string()] = folder.string();
  }
  return folder.filename().string();
}

using Mode = store::RunStore::Mode;

CommandStore::CommandStore(std::string path, Use use) : path_(std::move(path)), use_(use) {}

const store::RunStore& CommandStore::to_read() {
  if (!store_) {
    store_.emplace(find_store(path_), keeps() ? Mode::ReadWrite : Mode::ReadOnly);
  }
  return *store_;
}

store::RunStore& CommandStore::to_keep() {
  if (!keeps()) {
    throw Error("the command names no store that it adds to");
  }
  if (!store_) {
    store_.emplace(path_, Mode::ReadWrite);
  }
  return *store_;
}

void CommandStore::open_if_kept() {
  if (keeps()) {
    to_keep();
  }
}

} // namespace winnow::harness
