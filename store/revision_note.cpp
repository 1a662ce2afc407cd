#include "store/revision_note.h"

#include <fmt/format.h>

namespace winnow::store {
namespace {

constexpr std::size_t kDigitsOfNewest = 8;

// Candidates are read only if a task has several revisions, which few stores have.
constexpr const char* kNewest =
    "WITH several AS (SELECT name FROM tasks GROUP BY name HAVING count(*) > 1), "
    "last AS (SELECT task_id, max(id) AS candidate FROM candidates WHERE task_id IN "
    "(SELECT id FROM tasks WHERE name IN (SELECT name FROM several)) GROUP BY task_id) "
    "SELECT t.name, t.digest FROM tasks AS t JOIN last ON last.task_id = t.id "
    "ORDER BY last.candidate";

} // namespace

RevisionNotes::RevisionNotes(const Database& database) {
  Query several(database, "SELECT 1 FROM tasks GROUP BY name HAVING count(*) > 1 LIMIT 1");
  if (!several.next()) {
    return;
  }
  Query query(database, kNewest);
  while (query.next()) {
    newest_[query.text("name")] = query.text("digest"); // a later row is newer
  }
}

std::string RevisionNotes::note(const std::string& task, const std::string& digest) const {
  const auto newest = newest_.find(task);
  return newest == newest_.end() || newest->second == digest
             ? ""
             : fmt::format("old: the task has changed; its newest revision in this store is {}",
                           newest->second.substr(0, kDigitsOfNewest));
}

} // namespace winnow::store
