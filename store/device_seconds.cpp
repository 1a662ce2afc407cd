#include "store/device_seconds.h"

#include "store/run_store_state.h"

namespace winnow::store {
namespace {

/// A search that judges a kernel again has a request for it; `reverify` has none.
constexpr const char* kSeconds =
    "SELECT total(v.seconds) AS seconds FROM candidates AS c "
    "JOIN evaluations AS v ON v.candidate_id = c.id "
    "WHERE c.run_id = ?1 AND c.task_id = ?2 AND v.asked_by = '' AND (?3 = 0 OR v.id <= ?3) "
    "AND (coalesce(v.request, '') <> '' OR NOT EXISTS (SELECT 1 FROM evaluations AS o "
    "WHERE o.candidate_id = c.id AND o.superseded_by = v.id))";

} // namespace

double device_seconds(const Database& database, RowId run, RowId task, RowId last) {
  Query query(database, kSeconds);
  query.bind(run, task, last).next();
  return query.real_or_zero("seconds");
}

std::map<std::pair<std::string, std::string>, double> device_seconds_of_tasks(const RunStore& store,
                                                                              RowId run) {
  std::map<std::pair<std::string, std::string>, double> seconds;
  store.read([&](const Database& database) {
    Query tasks(database, "SELECT id, name, digest FROM tasks WHERE id IN "
                          "(SELECT task_id FROM model_calls WHERE run_id = ?)");
    tasks.bind(run);
    while (tasks.next()) {
      seconds[{tasks.text("name"), tasks.text("digest")}] =
          device_seconds(database, run, tasks.integer("id"));
    }
  });
  return seconds;
}

} // namespace winnow::store
