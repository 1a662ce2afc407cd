// The RunStore methods that read the leaderboard. Only the views in store/schema/views.sql define
// eligibility and ranks.
#include "base/error.h"
#include "base/text.h"
#include "store/run_store_state.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

/// The requested groups in output order. `run` 0: over all runs.
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
  row.run_name = query.text(23);
  row.shapes = nlohmann::json::parse(query.text(24)).get<std::vector<std::string>>();
  row.flag = query.text(25);
  row.held_out_speedup = query.optional_real(26).value_or(0);
  row.kernel = query.text(27);
  row.comparable = query.integer(28) != 0;
  return row;
}

constexpr const char* kColumns =
    "task, device, device_name, rank, speedup, score_ns, candidate_id, evaluation_id, run_id, "
    "origin, model, parameters, isolation, digest, lines, evaluated_at, evaluator_version, "
    "task_digest, findings, dollars, speedup_low, speedup_high, unranked, run, "
    "(SELECT json_group_array(shape) FROM (SELECT k.shape FROM cases AS k "
    "WHERE k.evaluation_id = board.evaluation_id AND k.shape_set = 'search' AND k.median_ns > 0 "
    "ORDER BY k.ordinal)), flag, held_out_speedup, kernel, comparable";

/// A kernel with a lower speedup would take most of a sitting's time.
constexpr double kTooSlow = 1.0 / 10;

/// The first `top` rows of one group; 0: all.
std::vector<LeaderboardRow> read_group(Query& select, RowId group, std::int64_t top) {
  std::vector<LeaderboardRow> rows;
  constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
  const std::int64_t shown = top > 0 ? std::min(top, kNoLimit - 1) : kNoLimit - 1;
  select.bind(group, shown + 1); // one more row, to see whether the last one is tied
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

/// Throws UsageError with the known names, unless `name` is empty or a value of the column.
void require_value(const Database& database, const char* what, const std::string& name,
                   const std::string& table, const std::string& column) {
  const std::string from = " FROM " + table;
  Query found(database, ("SELECT 1" + from + " WHERE " + column + " = ? LIMIT 1").c_str());
  if (name.empty() || found.bind(name).next()) {
    return;
  }
  std::vector<std::string> names;
  Query all(database, ("SELECT DISTINCT " + column + from + " ORDER BY 1").c_str());
  while (all.next()) {
    names.push_back(all.text(0));
  }
  throw UsageError(fmt::format("no {} '{}' in the store {}; it has: {}", what, name,
                               database.path().string(),
                               names.empty() ? "none" : join(names, ", ")));
}

} // namespace

std::vector<LeaderboardRow> RunStore::leaderboard(const LeaderboardQuery& query) const {
  Database& database = state_->database;
  return database.read([&] {
    const RowId run = query.run.empty() ? 0 : require_run(database, query.run);
    // No ORDER BY: the view ranks a group in index order, so LIMIT ends the work after the shown
    // rows. A test compares the result with the sorted view. The views leaderboard and
    // run_leaderboard cannot end early, because `tied` needs all ranks of a group.
    const std::string sql = std::string("SELECT ") + kColumns +
                            " FROM ranked_evaluations AS board WHERE group_id = ? LIMIT ?";
    std::vector<LeaderboardRow> rows;
    Query select(database, sql.c_str());
    for (const RowId group : select_groups(database, query, run)) {
      std::vector<LeaderboardRow> of_group = read_group(select, group, query.top);
      std::move(of_group.begin(), of_group.end(), std::back_inserter(rows));
    }
    return rows;
  });
}

void RunStore::require_known(const LeaderboardQuery& query) const {
  Database& database = state_->database;
  database.read([&] {
    if (!query.run.empty()) {
      require_run(database, query.run);
    }
    require_value(database, "task", query.task, "tasks", "name");
    require_value(database, "evaluation on the device", query.device, "evaluations", "device");
  });
}

std::string RunStore::why_nobody_is_ranked(const LeaderboardQuery& query) const {
  Database& database = state_->database;
  return database.read([&]() -> std::string {
    Query select(database, "SELECT count(*), count(verdict) FILTER (WHERE verdict = 'correct'), "
                           "count(speedup) FILTER (WHERE verdict = 'correct') "
                           "FROM candidate_overview WHERE ?1 IN ('', run) AND ?2 IN ('', task) "
                           "AND ?3 IN ('', coalesce(device, ''))");
    select.bind(query.run, query.task, query.device).next();
    const std::int64_t all = select.integer(0), correct = select.integer(1);
    if (correct == 0) {
      return fmt::format("no correct kernel yet, of {} candidate{}", all, all == 1 ? "" : "s");
    }
    return fmt::format("no kernel has a rank: of {} candidates {} {} correct, but none was {}", all,
                       correct, correct == 1 ? "is" : "are",
                       select.integer(2) == 0 ? "timed"
                                              : "promoted: all are slow on hidden shapes");
  });
}

std::vector<LeaderboardRow> RunStore::finalists(const tasks::Task& task,
                                                const std::string& device_name,
                                                std::int64_t evaluator_version, std::int64_t top,
                                                std::optional<RowId> run) const {
  constexpr const char* kWho =
      "WITH own AS (SELECT g.id FROM leaderboard_groups AS g JOIN tasks AS t ON t.id = g.task_id "
      "WHERE t.name = ?1 AND t.digest = ?2 AND g.device_name = ?3 AND g.evaluator_version = ?4 "
      "AND g.unranked = '' AND coalesce(g.run_id, 0) IN (0, ?6)), "
      "best AS (SELECT e.kernel FROM own CROSS JOIN standings AS s ON s.group_id = own.id "
      "JOIN evaluations AS e ON e.id = s.evaluation_id "
      "WHERE s.evaluation_id IN (SELECT evaluation_id FROM standings WHERE group_id = own.id "
      "ORDER BY speedup DESC, evaluation_id LIMIT ?5) "
      "OR s.evaluation_id IN (SELECT evaluation_id FROM finalists WHERE group_id = own.id "
      "LIMIT ?5)), "
      "like_best AS (SELECT kernel FROM best UNION "
      "SELECT CASE WHEN r.kernel = best.kernel THEN r.rival ELSE r.kernel END FROM best "
      "JOIN races AS r ON best.kernel IN (r.kernel, r.rival) "
      "WHERE r.verdict IN ('tie', 'undecided') AND r.device_name = ?3) ";
  Database& database = state_->database;
  return database.read([&] {
    std::vector<LeaderboardRow> rows;
    Query select(database,
                 (std::string(kWho) + "SELECT " + kColumns +
                  " FROM ranked_evaluations AS board WHERE group_id IN (SELECT id FROM own) "
                  "AND kernel IN (SELECT kernel FROM like_best) "
                  "AND evaluation_id NOT IN (SELECT evaluation_id FROM sitting_rows "
                  "WHERE rank IS NULL)")
                     .c_str());
    select.bind(task.name, task.digest, device_name, evaluator_version, top > 0 ? top : -1,
                run.value_or(0));
    while (select.next()) {
      LeaderboardRow row = read_row(select);
      const bool known = std::any_of(rows.begin(), rows.end(), [&](const LeaderboardRow& other) {
        return other.kernel == row.kernel;
      });
      if (!known && row.speedup > kTooSlow) {
        rows.push_back(std::move(row));
      }
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
