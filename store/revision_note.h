#pragma once

#include "store/database.h"

#include <map>
#include <string>

namespace winnow::store {

/// Says of boards which of them are of an old revision of their task. Terminal, JSON, Markdown and
/// page show these words. Call inside a transaction.
class RevisionNotes {
public:
  explicit RevisionNotes(const Database& database);

  /// "old: the task has changed; its newest revision in this store is 1a2b3c4d". Empty: the store
  /// has no kernel of a newer revision. The newest is the one whose kernel came last.
  std::string note(const std::string& task, const std::string& digest) const;

private:
  std::map<std::string, std::string> newest_; ///< digest, by the name of tasks with several
};

} // namespace winnow::store
