#pragma once

#include "store/database.h"
#include "store/run_store.h"

#include <array>
#include <map>
#include <string>

namespace winnow::store {

/// What a reader must know of the task of a board. Terminal, JSON, Markdown and page show these
/// words. Call inside a transaction.
class TaskNotes {
public:
  explicit TaskNotes(const Database& database);

  /// "old: the task has changed; its newest revision in this store is 1a2b3c4d". Empty: the store
  /// has no kernel of a newer revision. The newest is the one whose kernel came last.
  std::string revision(const std::string& task, const std::string& digest) const;
  /// tasks::unproven_note() of this user.
  const std::string& proof(const std::string& task, const std::string& digest,
                           const std::string& device_kind);

private:
  const Database& database_;
  std::map<std::string, std::string> newest_; ///< digest, by the name of tasks with several
  /// By task, digest and kind of device: a board has many rows of one task, and each note reads a
  /// file.
  std::map<std::array<std::string, 3>, std::string> proofs_;
};

class Database;

/// The folder of the newest revision of the task. Empty if the task is in the catalogue or unknown,
/// and if another user or another machine stored the folder. The folder need not exist any more.
std::string task_folder(const RunStore& store, const std::string& name);

/// Stores the folder of a task that is not in the catalogue; it may have moved. Within a write.
void keep_task_folder(Database& database, const tasks::Task& task);

} // namespace winnow::store
