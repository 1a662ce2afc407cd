#pragma once

#include "tasks/task/task.h"

#include <string>
#include <vector>

namespace winnow::store {
class RunStore;
}

namespace winnow::harness {

/// The task that a command line names: a name of the catalogue, category/name, a folder, or the
/// name of a task outside of the catalogue whose folder the store remembers. `store`: the store of
/// the command; empty: the one that `winnow leaderboard` shows. Throws UsageError with the nearest
/// name.
tasks::Task named_task(const std::string& name, const std::string& store = {});
std::vector<tasks::Task> named_tasks(const std::vector<std::string>& names,
                                     const std::string& store = {});

/// The task of a store's rows: of the folder that the command line has named (name_in_stores()), of
/// the one that the store remembers, else of the catalogue.
tasks::Task task_of_store(const store::RunStore& store, const std::string& name);

/// The word for a command line that names the task of a store's rows (tasks::task_word).
std::string word_of_store(const store::RunStore& store, const std::string& name);

/// The name that a store's rows have for a task that is given by name, category/name or folder.
std::string name_in_stores(const std::string& given);

} // namespace winnow::harness
