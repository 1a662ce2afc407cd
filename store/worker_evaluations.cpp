#include "store/worker_evaluations.h"

#include "store/database.h"

#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

template <typename Value>
std::vector<CountingEvaluation> counting(const RunStore& store, const std::string& where, RowId run,
                                         const Value& value) {
  std::vector<CountingEvaluation> found;
  store.read([&](const Database& database) {
    Query query(database, "SELECT e.candidate_id, c.task_id, v.parameters FROM evaluations AS e "
                          "JOIN candidates AS c ON c.id = e.candidate_id "
                          "JOIN variants AS v ON v.id = e.variant_id "
                          "WHERE c.run_id = ? AND e.ordinal = 0 AND e.superseded_by IS NULL AND " +
                              where + " ORDER BY e.id");
    query.bind(run, value);
    while (query.next()) {
      found.push_back({query.integer("candidate_id"), query.integer("task_id"),
                       nlohmann::json::parse(query.text("parameters"))});
    }
  });
  return found;
}

} // namespace

std::vector<CountingEvaluation> evaluations_of_worker(const RunStore& store, RowId run,
                                                      std::string_view worker) {
  return counting(store, "e.worker = ?", run, worker);
}

std::vector<CountingEvaluation>
withdraw_evaluations(RunStore& store, RowId run, const std::string& worker, tasks::Evaluation gap) {
  std::vector<CountingEvaluation> withdrawn = evaluations_of_worker(store, run, worker);
  for (const CountingEvaluation& row : withdrawn) {
    gap.parameters = row.parameters;
    store.supersede_evaluation(row.candidate, gap, {});
  }
  if (!withdrawn.empty()) {
    store.add_event(run, "worker quarantined",
                    {{"worker", worker}, {"withdrawn_evaluations", withdrawn.size()}});
  }
  return withdrawn;
}

std::vector<CountingEvaluation> unjudged_evaluations(const RunStore& store, RowId run) {
  return counting(store, "e.verdict = ?", run, static_cast<int>(tasks::Verdict::Infrastructure));
}

} // namespace winnow::store
