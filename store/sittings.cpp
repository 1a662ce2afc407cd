// The RunStore methods for final sittings. The views in store/schema/ define their effect on a
// board.
#include "store/sittings.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "store/row_columns.h"
#include "store/run_store_state.h"
#include "tasks/json/json_number.h"

#include <cmath>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using nlohmann::json;
using tasks::SittingRow;

// Enough times for an estimate of the spread.
constexpr std::int64_t kMostTimes = 4000;
constexpr std::size_t kFewestEvaluations = 3;

std::optional<double> if_known(double value) {
  return std::isfinite(value) && value > 0 ? std::optional(value) : std::nullopt;
}

std::string times_json(const SittingRow& row) {
  json list = json::array();
  for (const tasks::SittingTime& time : row.times) {
    list.push_back({{"shape", time.shape_id},
                    {"median_ns", time.median_ns},
                    {"baseline_median_ns", time.baseline_median_ns}});
  }
  return json_line(list);
}

void insert_row(Database& database, RowId sitting, std::int64_t position, RowId task,
                const SittingRow& row) {
  Query sat(database, "SELECT e.id, c.kernel_file_id FROM evaluations AS e "
                      "JOIN candidates AS c ON c.id = e.candidate_id "
                      "WHERE e.kernel = ? AND c.task_id = ? ORDER BY e.ordinal <> 0, e.id DESC");
  if (!sat.bind(row.kernel, task).next()) {
    throw Error("a kernel of a sitting was never judged");
  }
  const bool placed = row.rank > 0;
  Query(database,
        "INSERT INTO sitting_rows (sitting_id, position, kernel, kernel_file_id, evaluation_id, "
        "verdict, detail, rank, score_ns, speedup, speedup_low, speedup_high, held_out_speedup, "
        "times, races) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(sitting, position, row.kernel, sat.integer("kernel_file_id"), sat.integer("id"),
            static_cast<int>(row.verdict), row.detail,
            placed ? std::optional<std::int64_t>(row.rank) : std::nullopt, if_known(row.score_ns),
            if_known(row.speedup), if_known(row.speedup_bounds.low),
            if_known(row.speedup_bounds.high), if_known(row.held_out_speedup), times_json(row),
            json_line(row.races))
      .run();
}

SittingRow read_sitting_row(const Query& query) {
  SittingRow row;
  WINNOW_READ_COLUMNS(query, row, kernel, verdict, detail, rank, score_ns, speedup,
                      held_out_speedup, races);
  row.speedup_bounds = read_bounds(query, "speedup");
  for (const json& time : json::parse(query.text("times"))) {
    row.times.push_back({time.at("shape"), time.at("median_ns"), time.at("baseline_median_ns")});
  }
  return row;
}

std::vector<SittingRow> read_rows(const Database& database, RowId sitting) {
  Query query(database, "SELECT kernel, verdict, detail, rank, score_ns, speedup, speedup_low, "
                        "speedup_high, held_out_speedup, times, races FROM sitting_rows "
                        "WHERE sitting_id = ? ORDER BY position");
  query.bind(sitting);
  std::vector<SittingRow> rows;
  while (query.next()) {
    rows.push_back(read_sitting_row(query));
  }
  return rows;
}

StoredSitting read_sitting(const Query& query) {
  StoredSitting sitting;
  WINNOW_READ_COLUMNS(query, sitting, id, task);
  sitting.run = query.optional_integer("run_id");
  WINNOW_READ_COLUMNS(query, sitting.result, device, device_name, device_uuid, driver, worker,
                      evaluator_version, seed, rounds, baseline_spread, widening, started_at,
                      seconds);
  return sitting;
}

/// The standard deviation between evaluations after removing the mean of each shape.
double spread_of(const std::map<std::string, std::map<RowId, double>>& logs_by_shape) {
  std::map<RowId, std::pair<double, double>> sums; // sum of differences, and their number
  for (const auto& [shape, logs] : logs_by_shape) {
    double mean = 0;
    for (const auto& [evaluation, log] : logs) {
      mean += log / static_cast<double>(logs.size());
    }
    for (const auto& [evaluation, log] : logs) {
      sums[evaluation].first += log - mean;
      sums[evaluation].second += 1;
    }
  }
  if (sums.size() < kFewestEvaluations) {
    return 0;
  }
  double squares = 0;
  for (const auto& [evaluation, sum] : sums) {
    squares += std::pow(sum.first / sum.second, 2);
  }
  return std::sqrt(squares / static_cast<double>(sums.size() - 1));
}

} // namespace

void RunStore::add_sitting(std::optional<RowId> run, RowId task,
                           const tasks::SittingResult& result) {
  Database& database = state_->database;
  database.write([&] {
    Query(database, "INSERT INTO sittings (run_id, task_id, device, device_name, "
                    "evaluator_version, seed, rounds, baseline_spread, widening, started_at, "
                    "seconds, device_uuid, driver, worker) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(run, task, result.device, result.device_name, result.evaluator_version,
              static_cast<std::int64_t>(result.seed), result.rounds, result.baseline_spread,
              result.widening, result.started_at, result.seconds, result.device_uuid, result.driver,
              result.worker)
        .run();
    const RowId sitting = database.last_insert_id();
    std::int64_t position = 0;
    for (const SittingRow& row : result.rows) {
      insert_row(database, sitting, position++, task, row);
    }
  });
}

std::vector<StoredSitting> RunStore::sittings() const {
  Database& database = state_->database;
  return database.read([&] {
    Query query(
        database,
        "SELECT s.id, s.run_id, t.name AS task, s.device, s.device_name, s.evaluator_version, "
        "s.seed, s.rounds, s.baseline_spread, s.widening, s.started_at, s.seconds, "
        "s.device_uuid, s.driver, s.worker FROM sittings AS s JOIN tasks AS t ON t.id = s.task_id "
        "ORDER BY s.id");
    std::vector<StoredSitting> sittings;
    while (query.next()) {
      sittings.push_back(read_sitting(query));
      sittings.back().result.rows = read_rows(database, sittings.back().id);
    }
    return sittings;
  });
}

double RunStore::baseline_spread(RowId task, const std::string& device_name,
                                 std::int64_t evaluator_version) const {
  Database& database = state_->database;
  return database.read([&] {
    Query query(database, "SELECT k.shape_id, k.evaluation_id, k.baseline_median_ns "
                          "FROM candidates AS c "
                          "JOIN evaluations AS e ON e.candidate_id = c.id "
                          "JOIN cases AS k ON k.evaluation_id = e.id "
                          "WHERE c.task_id = ? AND e.device_name = ? AND e.evaluator_version = ? "
                          "AND k.shape_set = 'search' AND k.baseline_median_ns > 0 "
                          "ORDER BY k.evaluation_id DESC LIMIT ?");
    query.bind(task, device_name, evaluator_version, kMostTimes);
    std::map<std::string, std::map<RowId, double>> logs_by_shape;
    while (query.next()) {
      logs_by_shape[query.text("shape_id")][query.integer("evaluation_id")] =
          std::log(query.real("baseline_median_ns"));
    }
    return spread_of(logs_by_shape);
  });
}

} // namespace winnow::store
