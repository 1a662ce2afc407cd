#include "store/suite_calls.h"

#include "store/fields.h"
#include "store/run_store.h"

#include <algorithm>
#include <map>
#include <utility>

namespace winnow::store {
namespace {

constexpr const char* kSelectCalls =
    "SELECT t.name AS task, t.digest AS task_digest, m.model, m.status <> 'pending' AS is_made, "
    "m.status = 'ok' AND NOT EXISTS "
    "(SELECT 1 FROM advice AS a WHERE a.call_id = m.id) AS is_answered, "
    "x.paid_prompt_tokens AS prompt_tokens, x.paid_completion_tokens AS completion_tokens, "
    "m.status = 'ok' AND m.served_from IS NULL AND coalesce(m.prompt_tokens, 0) = 0 "
    "AS tokens_unknown, x.paid_dollars AS dollars, x.price_unknown, x.unconfirmed_tokens, "
    "x.unconfirmed_dollars, c.id AS candidate, k.digest, "
    "e.id AS evaluation, "
    "e.verdict, e.stage, e.device, e.device_name, e.speedup, e.speedup_low, e.speedup_high "
    "FROM model_calls AS m JOIN call_costs AS x ON x.call_id = m.id "
    "JOIN tasks AS t ON t.id = m.task_id "
    "LEFT JOIN candidates AS c ON c.call_id = m.id "
    "LEFT JOIN kernel_files AS k ON k.id = c.kernel_file_id "
    "LEFT JOIN evaluations AS e ON e.candidate_id = c.id AND e.ordinal = 0 "
    "WHERE m.run_id = ? ORDER BY m.id";

// The newest times of each alternative at each search shape. NULL: it has no time, or it was wrong.
constexpr const char* kSelectAlternatives =
    "SELECT e.id AS evaluation, b.name, CASE WHEN coalesce(b.agrees, 1) "
    "THEN b.median_ns / k.median_ns END AS ratio, (SELECT count(*) FROM cases AS o "
    "WHERE o.evaluation_id = e.id AND o.shape_set = 'search' AND o.median_ns > 0) AS shapes "
    "FROM candidates AS c JOIN evaluations AS e ON e.candidate_id = c.id AND e.ordinal = 0 "
    "JOIN cases AS k ON k.evaluation_id = e.id AND k.shape_set = 'search' AND k.median_ns > 0 "
    "JOIN baseline_timings AS b ON b.id IN "
    "(SELECT max(n.id) FROM baseline_timings AS n WHERE n.task_id = c.task_id AND "
    "n.device_name = e.device_name AND n.shape_id = k.shape_id GROUP BY n.name) "
    "WHERE c.run_id = ? ORDER BY evaluation, b.name";
constexpr const char* kCompiled = "torch.compile";

void compare(SuiteCall& call, const std::string& alternative, double speedup) {
  if (alternative == kCompiled) {
    call.speedup_versus_compiled = speedup;
  }
  if (call.speedup_versus_best == 0 || speedup < call.speedup_versus_best) {
    call.speedup_versus_best = speedup;
    call.best_alternative = alternative;
  }
}

/// `evaluations`: places in `calls` by the evaluation.
void compare_with_alternatives(const Database& database, RowId run,
                               const std::map<RowId, std::size_t>& evaluations,
                               std::vector<SuiteCall>& calls) {
  std::map<std::pair<RowId, std::string>, std::vector<double>> ratios;
  std::map<RowId, std::size_t> shapes;
  Query select(database, kSelectAlternatives);
  select.bind(run);
  while (select.next()) {
    const RowId evaluation = select.integer("evaluation");
    shapes[evaluation] = static_cast<std::size_t>(select.integer("shapes"));
    ratios[{evaluation, select.text("name")}].push_back(select.real_or_zero("ratio"));
  }
  for (const auto& [key, of_shapes] : ratios) {
    const auto& [evaluation, alternative] = key;
    const bool all_known =
        of_shapes.size() == shapes[evaluation] &&
        std::all_of(of_shapes.begin(), of_shapes.end(), [](double ratio) { return ratio > 0; });
    if (const auto call = evaluations.find(evaluation); all_known && call != evaluations.end()) {
      compare(calls[call->second], alternative, tasks::geometric_mean(of_shapes));
    }
  }
}

} // namespace

std::vector<SuiteCall> suite_calls(const RunStore& store, RowId run) {
  std::vector<SuiteCall> calls;
  store.read([&](const Database& database) {
    std::map<RowId, std::size_t> evaluations;
    Query select(database, kSelectCalls);
    select.bind(run);
    while (select.next()) {
      read_row(select, calls.emplace_back(),
               {"speedup_versus_compiled speedup_versus_best best_alternative"});
      if (const RowId evaluation = select.integer("evaluation")) {
        evaluations[evaluation] = calls.size() - 1;
      }
    }
    compare_with_alternatives(database, run, evaluations, calls);
  });
  return calls;
}

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
