// The RunStore methods that read the leaderboard. Only the views in store/schema/views.sql define
// eligibility and ranks.
#include "base/error.h"
#include "base/text.h"
#include "store/author.h"
#include "store/fields.h"
#include "store/run_store.h"
#include "store/task_notes.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>

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
    groups.push_back(select.integer("id"));
  }
  return groups;
}

// Not in the view.
constexpr FieldRules kComputed{"tied task_note task_proof speedup_versus shapes task_flags author "
                               "best_alternative versus_best versus_best_bounds of_light "
                               "held_out_note held_out fitted"};

LeaderboardRow read_row(const Query& query) {
  constexpr FieldRules kFilledLater{
      "tied task_note task_proof best_alternative versus_best versus_best_bounds of_light "
      "held_out_note fitted",
      {},
      "parameters"};
  auto row = row_of<LeaderboardRow>(query, kFilledLater);
  row.held_out_note = row.flag.empty() ? held_out_note(row.held_out) : "";
  return row;
}

const std::string kSelectRows =
    "SELECT " + columns<LeaderboardRow>(kComputed) +
    ", "
    "(SELECT json_group_array(shape) FROM (SELECT k.shape FROM cases AS k "
    "WHERE k.evaluation_id = board.evaluation_id AND k.shape_set = 'search' AND k.median_ns > 0 "
    "ORDER BY k.ordinal)) AS shapes, "
    "(SELECT " +
    versus_sql("t", "board.device") +
    " FROM tasks AS t WHERE t.name = board.task AND t.digest = board.task_digest) "
    "AS speedup_versus, "
    "(SELECT json_group_array(json(t.value)) FROM sitting_rows AS f, json_each(f.times) AS t "
    "WHERE f.sitting_id = board.sitting_id AND f.kernel = board.kernel "
    "AND json_extract(t.value, '$.shape') LIKE 'held_out/%') AS held_out, "
    "(SELECT json_extract(t.definition, '$.flags') FROM tasks AS t "
    "WHERE t.name = board.task AND t.digest = board.task_digest) AS task_flags, " +
    author_sql({"board.model", "board.origin", "board.run_id", "board.run", "board.digest"}) +
    " AS author FROM ranked_evaluations AS board WHERE ";

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
      rows.back().tied = row.tied = true;
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
  Query found(database, "SELECT 1" + from + " WHERE " + column + " = ? LIMIT 1");
  if (name.empty() || found.bind(name).next()) {
    return;
  }
  std::vector<std::string> names;
  Query all(database, "SELECT DISTINCT " + column + from + " ORDER BY " + column);
  while (all.next()) {
    names.push_back(all.text(column));
  }
  throw UsageError(fmt::format("no {} '{}' in the store {}; it has: {}", what, name,
                               database.path().string(),
                               names.empty() ? "none" : join(names, ", ")));
}

} // namespace

std::vector<LeaderboardRow> RunStore::leaderboard(const LeaderboardQuery& query) const {
  return database_.read([&] {
    const RowId run = query.run.empty() ? 0 : require_run(database_, query.run);
    // No ORDER BY: the view ranks a group in index order, so LIMIT ends the work after the shown
    // rows. A test compares the result with the sorted view. The views leaderboard and
    // run_leaderboard cannot end early, because `tied` needs all ranks of a group.
    Query select(database_, kSelectRows + "group_id = ? LIMIT ?");
    std::vector<LeaderboardRow> rows;
    TaskNotes notes(database_);
    for (const RowId group : select_groups(database_, query, run)) {
      std::vector<LeaderboardRow> of_group = read_group(select, group, query.top);
      for (LeaderboardRow& row : of_group) {
        row.task_note = notes.revision(row.task, row.task_digest);
        row.task_proof = notes.proof(row.task, row.task_digest, row.device);
      }
      std::move(of_group.begin(), of_group.end(), std::back_inserter(rows));
    }
    return rows;
  });
}

void RunStore::require_known(const LeaderboardQuery& query) const {
  database_.read([&] {
    if (!query.run.empty()) {
      require_run(database_, query.run);
    }
    require_value(database_, "task", query.task, "tasks", "name");
    require_value(database_, "evaluation on the device", query.device, "evaluations", "device");
  });
}

std::string RunStore::why_nobody_is_ranked(const LeaderboardQuery& query) const {
  return database_.read([&]() -> std::string {
    Query select(database_, "SELECT count(*) AS candidates, "
                            "count(verdict) FILTER (WHERE verdict = 'correct') AS correct, "
                            "count(speedup) FILTER (WHERE verdict = 'correct') AS timed "
                            "FROM candidate_overview WHERE ?1 IN ('', run) AND ?2 IN ('', task) "
                            "AND ?3 IN ('', coalesce(device, ''))");
    select.bind(query.run, query.task, query.device).next();
    const std::int64_t all = select.integer("candidates"), correct = select.integer("correct");
    if (correct == 0) {
      return fmt::format("no correct kernel yet, of {} candidate{}", all, all == 1 ? "" : "s");
    }
    return fmt::format("no kernel has a rank: of {} candidates {} {} correct, but none was {}", all,
                       correct, correct == 1 ? "is" : "are",
                       select.integer("timed") == 0 ? "timed"
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
      "WHERE r.device_name = ?3 AND (r.verdict IN ('tie', 'undecided') "
      "OR (r.verdict = 'not shown to be faster' AND r.ratio > 0.95))) "; // as long as it is close
  return database_.read([&] {
    std::vector<LeaderboardRow> rows;
    Query select(database_, std::string(kWho) + kSelectRows +
                                "group_id IN (SELECT id FROM own) "
                                "AND kernel IN (SELECT kernel FROM like_best) "
                                "AND evaluation_id NOT IN (SELECT evaluation_id FROM sitting_rows "
                                "WHERE rank IS NULL)");
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
  return database_.read([&] {
    if (!query.run.empty()) {
      require_run(database_, query.run);
    }
    // As the view verdict_counts, but names are looked up once for each group.
    Query select(database_,
                 "SELECT r.name AS run, t.name AS task, n.device, "
                 "coalesce(d.name, 'not_judged') AS verdict, sum(n.candidates) AS candidates "
                 "FROM (SELECT c.run_id, c.task_id, e.device, e.verdict, count(*) AS candidates "
                 "FROM candidates AS c LEFT JOIN evaluations AS e "
                 "ON e.candidate_id = c.id AND e.ordinal = 0 GROUP BY 1, 2, 3, 4) AS n "
                 "JOIN runs AS r ON r.id = n.run_id JOIN tasks AS t ON t.id = n.task_id "
                 "LEFT JOIN verdicts AS d ON d.number = n.verdict "
                 "WHERE ?1 IN ('', r.name) AND ?2 IN ('', t.name) "
                 "AND ?3 IN ('', coalesce(n.device, '')) GROUP BY 1, 2, 3, 4 "
                 "ORDER BY run, task, n.device, candidates DESC, verdict");
    return rows_of<VerdictCount>(select.bind(query.run, query.task, query.device));
  });
}

} // namespace winnow::store
