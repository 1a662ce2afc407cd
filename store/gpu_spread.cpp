#include "store/gpu_spread.h"

#include "base/text/number_text.h"
#include "store/leaderboard_format.h"
#include "store/run_store.h"
#include "tasks/result/evaluation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace winnow::store {
namespace {

constexpr std::int64_t kNewestTimes = 4000; // enough for an estimate
constexpr double kPercent = 100;

bool has_several_gpus(const Database& database, const LeaderboardRow& row) {
  Query query(database, "SELECT (SELECT min(device_uuid) FROM evaluations WHERE device_name = ?1 "
                        "AND evaluator_version = ?2 AND device_uuid <> '') < "
                        "(SELECT max(device_uuid) FROM evaluations WHERE device_name = ?1 "
                        "AND evaluator_version = ?2 AND device_uuid <> '') AS several");
  query.bind(row.device_name, row.evaluator_version).next();
  return query.integer("several") != 0;
}

/// Of the evaluations that have timed the baseline at every search shape. Heats of tunings do not
/// count, because they have few launches. Equal times on one GPU are one measurement: an evaluation
/// of equal machine code is a copy, and a session times PyTorch eager once.
std::vector<BaselineTime> baseline_times(const Database& database, const LeaderboardRow& row) {
  Query query(database, "SELECT e.id, e.device_uuid, k.baseline_median_ns FROM tasks AS t "
                        "JOIN candidates AS c ON c.task_id = t.id "
                        "JOIN evaluations AS e ON e.candidate_id = c.id "
                        "JOIN cases AS k ON k.evaluation_id = e.id "
                        "WHERE t.name = ? AND t.digest = ? AND e.device = ? AND e.device_name = ? "
                        "AND e.evaluator_version = ? AND e.device_uuid <> '' AND e.turns IS NULL "
                        "AND k.shape_set = 'search' AND k.baseline_median_ns > 0 "
                        "ORDER BY e.id DESC LIMIT ?");
  query.bind(row.task, row.task_digest, row.device, row.device_name, row.evaluator_version,
             kNewestTimes);
  struct Timed {
    std::string uuid;
    std::vector<double> shapes;
  };
  std::map<RowId, Timed> evaluations;
  std::size_t shapes = 0;
  while (query.next()) {
    Timed& timed = evaluations[query.integer("id")];
    timed.uuid = query.text("device_uuid");
    timed.shapes.push_back(query.real("baseline_median_ns"));
    shapes = std::max(shapes, timed.shapes.size());
  }
  std::vector<BaselineTime> times;
  std::set<std::pair<std::string, double>> known;
  for (const auto& [id, timed] : evaluations) {
    const BaselineTime time{timed.uuid, tasks::geometric_mean(timed.shapes)};
    if (timed.shapes.size() == shapes && known.emplace(time.device_uuid, time.ns).second) {
      times.push_back(time);
    }
  }
  return times;
}

} // namespace

GpuSpread spread_of(const std::vector<BaselineTime>& times) {
  std::map<std::string, std::vector<double>> logs_by_gpu;
  GpuSpread spread;
  for (const BaselineTime& time : times) {
    if (!time.device_uuid.empty() && time.ns > 0 && std::isfinite(time.ns)) {
      logs_by_gpu[time.device_uuid].push_back(std::log(time.ns));
      ++spread.evaluations;
    }
  }
  spread.gpus = static_cast<std::int64_t>(logs_by_gpu.size());
  std::vector<double> levels;
  double squares = 0;
  for (const auto& [uuid, logs] : logs_by_gpu) {
    levels.push_back(tasks::median(logs));
    double mean = 0;
    for (const double log : logs) {
      mean += log / static_cast<double>(logs.size());
    }
    for (const double log : logs) {
      squares += (log - mean) * (log - mean);
    }
  }
  if (spread.gpus > 1) {
    const auto [fastest, slowest] = std::minmax_element(levels.begin(), levels.end());
    spread.between = std::expm1(*slowest - *fastest);
  }
  if (spread.evaluations > spread.gpus) {
    spread.within = std::sqrt(squares / static_cast<double>(spread.evaluations - spread.gpus));
  }
  return spread;
}

std::string to_string(const GpuSpread& spread) {
  const std::string repeated =
      spread.evaluations > spread.gpus
          ? fmt::format("repeated on one GPU the time varies by {} %",
                        number_text(kPercent * spread.within))
          : "a part of this may be noise, because no GPU has two evaluations";
  return fmt::format("GPUs of this model differ by up to {} % in the time of {} ({} GPUs, {} "
                     "evaluations; {})",
                     number_text(kPercent * spread.between), spread.time_versus, spread.gpus,
                     spread.evaluations, repeated);
}

std::vector<GpuSpread> RunStore::gpu_spreads(const std::vector<LeaderboardRow>& rows) const {
  return database_.read([&] {
    std::vector<GpuSpread> spreads;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const LeaderboardRow& row = rows[i];
      if ((i > 0 && same_group(rows[i - 1], row)) || !has_several_gpus(database_, row)) {
        continue;
      }
      GpuSpread spread = spread_of(baseline_times(database_, row));
      if (spread.gpus < 2) {
        continue;
      }
      spread.task = row.task;
      spread.task_digest = row.task_digest;
      spread.device = row.device;
      spread.device_name = row.device_name;
      spread.evaluator_version = row.evaluator_version;
      spread.time_versus = row.speedup_versus;
      spreads.push_back(std::move(spread));
    }
    return spreads;
  });
}

} // namespace winnow::store
