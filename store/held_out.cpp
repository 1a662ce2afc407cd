// The part of RunStore that keeps final reports.
#include "store/held_out.h"

#include "base/text.h"
#include "store/run_store_state.h"

namespace winnow::store {

void RunStore::add_held_out(RowId run, RowId task, const HeldOutResult& result) {
  Database& database = state_->database;
  const std::optional<double> speedup =
      result.speedup > 0 ? std::optional(result.speedup) : std::nullopt;
  database.write([&] {
    Query(database, "INSERT INTO held_out_results (run_id, task_id, device_name, candidate_id, "
                    "evaluation_id, verdict, detail, speedup, cases, evaluator_version, judged_at) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING")
        .bind(run, task, result.device_name, result.candidate, result.evaluation,
              static_cast<int>(result.verdict), result.detail, speedup, result.cases,
              result.evaluator_version, utc_now())
        .run();
  });
}

std::vector<HeldOutResult> RunStore::held_out(RowId run) const {
  Database& database = state_->database;
  return database.read([&] {
    std::vector<HeldOutResult> results;
    Query query(database,
                "SELECT t.name, h.device_name, h.candidate_id, h.evaluation_id, h.verdict, "
                "h.detail, coalesce(h.speedup, 0), h.cases, h.evaluator_version, h.judged_at "
                "FROM held_out_results AS h JOIN tasks AS t ON t.id = h.task_id "
                "WHERE h.run_id = ? ORDER BY t.name, h.device_name");
    query.bind(run);
    while (query.next()) {
      results.push_back({query.text(0), query.text(1), query.integer(2), query.integer(3),
                         static_cast<tasks::Verdict>(query.integer(4)), query.text(5),
                         query.real(6), query.text(7), static_cast<int>(query.integer(8)),
                         query.text(9)});
    }
    return results;
  });
}

} // namespace winnow::store
