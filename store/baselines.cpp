// The RunStore methods for the timings of libraries and frameworks.
#include "store/baselines.h"

#include "base/text.h"
#include "store/evaluation_rows.h"
#include "store/fields.h"
#include "store/leaderboard_format.h"
#include "store/run_store.h"
#include "tasks/result/evaluation.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace winnow::store {
namespace {

constexpr FieldRules kTiming{"task", "error"};

// The newest row of each name and shape: a repeated measurement replaces the previous one.
const std::string kSelectNewest =
    "SELECT t.name AS task, " + columns<BaselineTiming>(kTiming, "b.") +
    " FROM baseline_timings AS b JOIN tasks AS t ON t.id = b.task_id "
    "WHERE t.name = ?1 AND ?2 IN ('', t.digest) AND ?3 IN ('', b.device_name) AND b.id = "
    "(SELECT max(n.id) FROM baseline_timings AS n WHERE n.task_id = b.task_id AND n.device_name = "
    "b.device_name AND n.name = b.name AND n.shape_id = b.shape_id) "
    "ORDER BY b.task_id, b.device_name, b.name, b.id";

std::vector<BaselineTiming> newest_timings(const Database& database, const std::string& task,
                                           const std::string& task_digest,
                                           const std::string& device_name) {
  Query select(database, kSelectNewest);
  select.bind(task, task_digest, device_name);
  return rows_of<BaselineTiming>(select);
}

/// The times of baseline.cu or PyTorch eager from the session of this evaluation, by search shape.
/// Libraries and frameworks are only timed at search shapes.
std::map<std::string, double> baseline_medians(const Database& database, RowId evaluation) {
  Query select(database, "SELECT shape_id, baseline_median_ns FROM cases "
                         "WHERE evaluation_id = ? AND shape_set = 'search' "
                         "AND baseline_median_ns > 0");
  select.bind(evaluation);
  std::map<std::string, double> medians;
  while (select.next()) {
    medians[select.text("shape_id")] = select.real("baseline_median_ns");
  }
  return medians;
}

/// Why the timings of one name cannot be compared with those of `versus`; empty if they can.
std::string obstacle(const std::vector<const BaselineTiming*>& timings,
                     const std::map<std::string, double>& medians, const std::string& versus) {
  for (const BaselineTiming* timing : timings) {
    if (timing->agrees == false) {
      return fmt::format("does not agree with reference.cu at {} ({}): {}", timing->shape_id,
                         timing->shape, timing->error);
    }
  }
  for (const auto& median : medians) {
    const std::string& shape_id = median.first;
    const auto found =
        std::find_if(timings.begin(), timings.end(),
                     [&](const BaselineTiming* timing) { return timing->shape_id == shape_id; });
    if (found == timings.end() || !(*found)->median_ns) {
      const bool explained = found != timings.end() && !(*found)->error.empty();
      return "no time at " + shape_id + (explained ? ": " + (*found)->error : "");
    }
  }
  return medians.empty() ? versus + " has no time to compare with" : "";
}

BaselineStanding standing_of(const LeaderboardRow& row,
                             const std::vector<const BaselineTiming*>& timings,
                             const std::map<std::string, double>& medians) {
  BaselineStanding standing;
  standing.task = row.task;
  standing.task_digest = row.task_digest;
  standing.device = row.device;
  standing.device_name = row.device_name;
  standing.evaluator_version = row.evaluator_version;
  standing.agrees = true;
  standing.name = timings.back()->name;
  standing.version = timings.back()->version;
  std::vector<double> ratios, lows, highs;
  for (const BaselineTiming* timing : timings) {
    standing.agrees = standing.agrees && timing->agrees.value_or(true);
    const auto median = medians.find(timing->shape_id);
    if (timing->median_ns && median != medians.end()) {
      const tasks::Bounds bounds = tasks::median_bounds(timing->times_ns);
      ratios.push_back(*timing->median_ns / median->second);
      lows.push_back((bounds.known() ? bounds.low : *timing->median_ns) / median->second);
      highs.push_back((bounds.known() ? bounds.high : *timing->median_ns) / median->second);
    }
  }
  standing.shapes = static_cast<std::int64_t>(ratios.size());
  standing.time_versus = row.speedup_versus;
  standing.note = obstacle(timings, medians, row.speedup_versus);
  if (standing.note.empty()) {
    standing.relative_time = tasks::geometric_mean(ratios);
    standing.relative_bounds = {tasks::geometric_mean(lows), tasks::geometric_mean(highs)};
  }
  return standing;
}

void insert_timings(Database& database, RowId task, const std::vector<BaselineTiming>& timings) {
  Query insert(database, insert_into<BaselineTiming>("baseline_timings", "task_id", kTiming));
  for (BaselineTiming timing : timings) {
    timing.recorded_at = utc_now();
    bind_fields(insert.bind(task), timing, kTiming).run();
  }
}

BaselineTiming library_timing(const tasks::Evaluation& evaluation, const tasks::CaseResult& result,
                              const tasks::LibraryTiming& library) {
  BaselineTiming timing;
  timing.name = library.name;
  timing.device = evaluation.device;
  timing.device_name = evaluation.device_name;
  timing.shape_id = result.shape_id;
  timing.shape = result.shape;
  timing.error = library.error;
  if (library.median_ns > 0) { // otherwise there is no answer
    timing.median_ns = library.median_ns;
    timing.times_ns = library.samples_ns;
    timing.max_error_ratio = library.max_error_ratio;
    timing.agrees = library.agrees;
  }
  return timing;
}

} // namespace

void insert_library_timings(Database& database, RowId candidate,
                            const tasks::Evaluation& evaluation) {
  std::vector<BaselineTiming> timings;
  for (const tasks::CaseResult& result : evaluation.cases) {
    for (const tasks::LibraryTiming& library : result.libraries) {
      if (library.is_fresh) {
        timings.push_back(library_timing(evaluation, result, library));
      }
    }
  }
  if (timings.empty()) {
    return;
  }
  Query task(database, "SELECT task_id FROM candidates WHERE id = ?");
  task.bind(candidate).next();
  insert_timings(database, task.integer("task_id"), timings);
}

void RunStore::add_baseline_timings(RowId task, const std::vector<BaselineTiming>& timings) {
  database_.write([&] { insert_timings(database_, task, timings); });
}

std::vector<BaselineTiming> RunStore::baseline_timings(const std::string& task,
                                                       const std::string& device_name) const {
  return database_.read([&] { return newest_timings(database_, task, {}, device_name); });
}

std::vector<BaselineStanding>
RunStore::baseline_standings(const std::vector<LeaderboardRow>& rows) const {
  return database_.read([&] {
    std::vector<BaselineStanding> standings;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const LeaderboardRow& row = rows[i];
      if (i > 0 && same_group(rows[i - 1], row)) {
        continue; // the group's first row already has its baselines
      }
      const auto timings = newest_timings(database_, row.task, row.task_digest, row.device_name);
      std::map<std::string, std::vector<const BaselineTiming*>> by_name;
      for (const BaselineTiming& timing : timings) {
        by_name[timing.name].push_back(&timing);
      }
      const auto medians = baseline_medians(database_, row.evaluation_id);
      for (const auto& [name, of_name] : by_name) {
        standings.push_back(standing_of(row, of_name, medians));
      }
    }
    return standings;
  });
}

} // namespace winnow::store
