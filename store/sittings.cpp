// The RunStore methods for final sittings. The views in store/schema/ define their effect on a
// board.
#include "store/sittings.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "store/fields.h"
#include "store/held_out.h"
#include "store/run_store.h"

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

constexpr FieldRules kSitting{"rows"};
constexpr FieldRules kRow{"times", "rank score_ns speedup held_out_speedup"};
constexpr FieldRules kReadRow{"times held_out_speedup"}; // a newer Winnow reads the latter anew

std::string times_json(const SittingRow& row) {
  json list = json::array();
  for (const tasks::SittingTime& time : row.times) {
    list.push_back({{"shape", time.shape_id},
                    {"median_ns", time.median_ns},
                    {"baseline_median_ns", time.baseline_median_ns},
                    {"speedup", time.speedup},
                    {"counts", time.counts}});
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
  Query insert(database, insert_into<SittingRow>(
                             "sitting_rows",
                             "sitting_id, position, kernel_file_id, evaluation_id, times", kRow));
  insert.bind(sitting, position, sat.integer("kernel_file_id"), sat.integer("id"), times_json(row));
  bind_fields(insert, row, kRow).run();
}

SittingRow read_sitting_row(const Query& query) {
  auto row = row_of<SittingRow>(query, kRow);
  for (const json& time : json::parse(query.text("times"))) {
    row.times.push_back({time.at("shape"), time.at("median_ns"), time.at("baseline_median_ns"),
                         time.value("speedup", 0.0), time.value("counts", true)});
  }
  return row;
}

std::vector<SittingRow> read_rows(const Database& database, RowId sitting) {
  Query query(database, "SELECT times, " + columns<SittingRow>(kReadRow) + ", " +
                            final_held_out("f") +
                            " AS held_out_speedup FROM sitting_rows AS f WHERE sitting_id = ? "
                            "ORDER BY position");
  query.bind(sitting);
  std::vector<SittingRow> rows;
  while (query.next()) {
    rows.push_back(read_sitting_row(query));
  }
  return rows;
}

StoredSitting read_sitting(const Query& query) {
  return {query.integer("id"), query.optional_integer("run_id"), query.text("task"),
          row_of<tasks::SittingResult>(query, kSitting)};
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
  database_.write([&] {
    Query insert(database_,
                 insert_into<tasks::SittingResult>("sittings", "run_id, task_id", kSitting));
    bind_fields(insert.bind(run, task), result, kSitting).run();
    const RowId sitting = database_.last_insert_id();
    std::int64_t position = 0;
    for (const SittingRow& row : result.rows) {
      insert_row(database_, sitting, position++, task, row);
    }
  });
}

std::vector<StoredSitting> RunStore::sittings() const {
  return database_.read([&] {
    Query query(database_, "SELECT s.id, s.run_id, t.name AS task, " +
                               columns<tasks::SittingResult>(kSitting, "s.") +
                               " FROM sittings AS s JOIN tasks AS t ON t.id = s.task_id "
                               "ORDER BY s.id");
    std::vector<StoredSitting> sittings;
    while (query.next()) {
      sittings.push_back(read_sitting(query));
      sittings.back().result.rows = read_rows(database_, sittings.back().id);
    }
    return sittings;
  });
}

double RunStore::baseline_spread(RowId task, const std::string& device_name,
                                 std::int64_t evaluator_version) const {
  return database_.read([&] {
    Query query(database_, "SELECT k.shape_id, k.evaluation_id, k.baseline_median_ns "
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
