#pragma once

#include "tasks/task/task.h"

#include <cstdint>
#include <string>
#include <vector>

namespace winnow::store {
class RunStore;
}

namespace winnow::harness {

class CommandStore;

/// What a command does with a task. To judge it, or to show it to a model, the task must be filled
/// in: then the functions throw as tasks::check_reference().
enum class TaskUse : std::uint8_t { Judge, Show };

/// The task that a command line names: a name of the catalogue, category/name, a folder, or the
/// name of a task outside of the catalogue whose folder the store remembers. `store`: the store of
/// the command; empty: the one that `winnow leaderboard` shows. Throws UsageError with the nearest
/// name.
tasks::Task named_task(const std::string& name, CommandStore& store, TaskUse use = TaskUse::Judge);
tasks::Task named_task(const std::string& name, const std::string& store = {},
                       TaskUse use = TaskUse::Judge);
/// The same, to judge each of them; the whole catalogue if there are no names.
std::vector<tasks::Task> named_tasks(const std::vector<std::string>& names,
                                     const std::string& store = {});

/// The task of a store's rows: of the folder that the command line has named (name_in_stores()), of
/// the one that the store remembers, else of the catalogue.
tasks::Task task_of_store(const store::RunStore& store, const std::string& name,
                          TaskUse use = TaskUse::Judge);

/// The word for a command line that names the task of a store's rows (tasks::task_word).
std::string word_of_store(const store::RunStore& store, const std::string& name);

/// The name that a store's rows have for a task that is given by name, category/name or folder.
std::string name_in_stores(const std::string& given);

} // namespace winnow::harness
