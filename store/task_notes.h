#pragma once

#include "store/database.h"

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
  std::string proof(const std::string& task, const std::string& digest,
                    const std::string& device_kind) const;

private:
  const Database& database_;
  std::map<std::string, std::string> newest_; ///< digest, by the name of tasks with several
};

} // namespace winnow::store
