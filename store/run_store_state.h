#pragma once

#include "base/error.h"
#include "store/database.h"
#include "store/run_store.h"

#include <map>
#include <mutex>

namespace winnow::store {

struct RunStore::State {
  State(const std::filesystem::path& path, OpenMode mode, const OpenOptions& options)
      : database(path, mode, options) {}
  ~State();
  State(const State&) = delete; // owns the descriptors of the lock files
  State& operator=(const State&) = delete;

  Database database;
  std::mutex locks_mutex;
  std::map<RowId, int> locks; ///< open descriptors of held run locks
};

/// The id of the run. Throws UsageError with the nearest names. Call inside a transaction.
RowId require_run(const Database& database, const std::string& name);
/// Names the nearest number. Call inside a transaction.
UsageError no_candidate(const Database& database, RowId id);

} // namespace winnow::store
