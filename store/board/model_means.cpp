#include "store/board/model_means.h"

#include "store/fields.h"
#include "tasks/result/speedup.h"

#include <map>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

/// SQLite takes the other columns from the row that has the maximum.
constexpr const char* kBestKernels =
    "SELECT coalesce(o.model, o.origin) AS model, o.task, max(e.speedup) AS speedup, "
    "e.speedup_low, e.speedup_high FROM candidate_overview AS o "
    "JOIN evaluations AS e ON e.candidate_id = o.candidate_id AND e.ordinal = 0 "
    "WHERE o.origin = 'model' AND o.verdict = 'correct' AND e.speedup > 0 "
    "AND ?1 IN ('', o.run) AND ?2 IN ('', o.task) AND ?3 IN ('', e.device) GROUP BY 1, 2";

nlohmann::json mean_of(const std::string& model, const std::vector<tasks::Speedup>& speedups) {
  const tasks::Speedup mean = tasks::mean_speedup(speedups);
  const bool bounded = mean.bounds.known();
  return {{"model", model},
          {"tasks", speedups.size()},
          {"mean_speedup", mean.value},
          {"mean_speedup_low", bounded ? nlohmann::json(mean.bounds.low) : nlohmann::json()},
          {"mean_speedup_high", bounded ? nlohmann::json(mean.bounds.high) : nlohmann::json()}};
}

} // namespace

nlohmann::json model_means(const Database& database, const LeaderboardQuery& query) {
  std::map<std::string, std::vector<tasks::Speedup>> speedups;
  Query best(database, kBestKernels);
  best.bind(query.run, query.task, query.device);
  while (best.next()) {
    tasks::Speedup& speedup = speedups[best.text("model")].emplace_back();
    speedup.value = best.real("speedup");
    read_column(best, "speedup_low", speedup.bounds.low);
    read_column(best, "speedup_high", speedup.bounds.high);
  }
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [model, of_tasks] : speedups) {
    list.push_back(mean_of(model, of_tasks));
  }
  return list;
}

} // namespace winnow::store
