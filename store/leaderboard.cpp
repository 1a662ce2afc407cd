// The parts of RunStore that read the leaderboard. Who is eligible and who ranks where is said by
// the views in store/schema/, nowhere else.
#include "store/run_store_state.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

/// The groups asked for, in the order of the output. 0: over all runs.
std::vector<RowId> select_groups(const Database& database, const LeaderboardQuery& query,
                                 RowId run) {
  std::vector<RowId> groups;
  Query select(database,
               "SELECT g.id FROM leaderboard_groups AS g JOIN tasks AS t ON t.id = g.task_id "
               "WHERE coalesce(g.run_id, 0) = ?1 AND ?2 IN ('', t.name) AND ?3 IN ('', g.device) "
               "ORDER BY t.name, g.device, g.device_name, g.task_id, g.unranked <> '', "
               "g.evaluator_version, g.unranked");
  select.bind(run, query.task, query.device);
  while (select.next()) {
    groups.push_back(select.integer(0));
  }
  return groups;
}

LeaderboardRow read_row(const Query& query) {
  LeaderboardRow row;
  row.task = query.text(0);
  row.device = query.text(1);
  row.device_name = query.text(2);
  row.rank = query.is_null(3) ? 0 : query.integer(3);
  row.speedup = query.real(4);
  row.score_ns = query.is_null(5) ? 0 : query.real(5);
  row.candidate = query.integer(6);
  row.evaluation = query.integer(7);
  row.run = query.integer(8);
  row.origin = query.text(9);
  row.model = query.text(10);
  row.parameters = query.text(11);
  row.isolation = query.text(12);
  row.digest = query.text(13);
  row.lines = query.integer(14);
  row.evaluated_at = query.text(15);
  row.evaluator_version = query.integer(16);
  row.task_digest = query.text(17);
  row.findings = nlohmann::json::parse(query.text(18)).get<std::vector<tasks::Finding>>();
  row.dollars = query.optional_real(19);
  row.speedup_bounds = {query.optional_real(20).value_or(0), query.optional_real(21).value_or(0)};
  row.unranked = query.text(22);
  return row;
}

constexpr const char* kColumns =
    "task, device, device_name, rank, speedup, score_ns, candidate_id, evaluation_id, run_id, "
    "origin, model, parameters, isolation, digest, lines, evaluated_at, evaluator_version, "
    "task_digest, findings, dollars, speedup_low, speedup_high, unranked";

/// The first `top` rows of one group; 0: all.
std::vector<LeaderboardRow> read_group(Query& select, RowId group, std::int64_t top) {
  std::vector<LeaderboardRow> rows;
  constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
  const std::int64_t shown = top > 0 ? std::min(top, kNoLimit - 1) : kNoLimit - 1;
  select.bind(group, shown + 1); // one more: is the last one tied with it?
  while (select.next()) {
    LeaderboardRow row = read_row(select);
    if (!rows.empty() && row.rank > 0 && rows.back().rank == row.rank) {
      rows.back().is_tied = row.is_tied = true;
    }
    rows.push_back(std::move(row));
  }
  if (rows.size() > static_cast<std::size_t>(shown)) {
    rows.pop_back();
  }
  return rows;
}

} // namespace

std::vector<LeaderboardRow> RunStore::leaderboard(const LeaderboardQuery& query) const {
  Database& database = state_->database;
  return database.read([&] {
    const RowId run = query.run.empty() ? 0 : require_run(database, query.run);
    // No ORDER BY: the view ranks a group in the order of its index, so that LIMIT ends the work
    // after the rows that are shown. A test compares it with the sorted view.
    const std::string sql = std::string("SELECT ") + kColumns + " FROM " +
                            (run == 0 ? "leaderboard" : "run_leaderboard") +
                            " WHERE group_id = ? LIMIT ?";
    std::vector<LeaderboardRow> rows;
    Query select(database, sql.c_str());
    for (const RowId group : select_groups(database, query, run)) {
      std::vector<LeaderboardRow> of_group = read_group(select, group, query.top);
      std::move(of_group.begin(), of_group.end(), std::back_inserter(rows));
    }
    return rows;
  });
}

std::vector<VerdictCount> RunStore::verdict_counts(const LeaderboardQuery& query) const {
  Database& database = state_->database;
  return database.read([&] {
    if (!query.run.empty()) {
      require_run(database, query.run);
    }
    Query select(database, "SELECT run, task, coalesce(device, ''), verdict, candidates "
                           "FROM verdict_counts WHERE ?1 IN ('', run) AND ?2 IN ('', task) "
                           "AND ?3 IN ('', coalesce(device, '')) ORDER BY 1, 2, 3, 5 DESC, 4");
    select.bind(query.run, query.task, query.device);
    std::vector<VerdictCount> counts;
    while (select.next()) {
      counts.push_back(
          {select.text(0), select.text(1), select.text(2), select.text(3), select.integer(4)});
    }
    return counts;
  });
}

} // namespace winnow::store
