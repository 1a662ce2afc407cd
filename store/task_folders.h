#pragma once

#include "store/run_store.h"

#include <string>

namespace winnow::store {

class Database;

/// The folder of the newest revision of the task. Empty if the task is in the catalogue or unknown,
/// and if another user or another machine stored the folder. The folder need not exist any more.
std::string task_folder(const RunStore& store, const std::string& name);

/// Stores the folder of a task that is not in the catalogue; it may have moved. Within a write.
void keep_task_folder(Database& database, const tasks::Task& task);

} // namespace winnow::store
