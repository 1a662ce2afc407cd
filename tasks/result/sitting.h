#pragma once

#include "base/fields.h"
#include "tasks/result/evaluation.h"

#include <cstdint>
#include <string>
#include <vector>

namespace winnow::tasks {

/// The times of a finalist at one search or held-out shape.
struct SittingTime {
  std::string shape_id;
  double median_ns = 0;
  double baseline_median_ns = 0;
  double speedup = 0; ///< against the task's baseline; 0: not known, as in old stores
  /// False: the baseline takes too little time at this held-out shape for its speed to count.
  bool counts = true;
};
WINNOW_FIELDS(SittingTime, shape_id, median_ns, baseline_median_ns, speedup, counts)

/// The result of one finalist in a sitting.
struct SittingRow {
  std::string kernel; ///< kernel_digest() of the file and parameters
  /// Correct, or the finalist's fault during the sitting. After a fault there is no rank and no
  /// time.
  Verdict verdict = Verdict::NotJudged;
  std::string detail;
  int rank = 0;          ///< from 1; 0: no rank, because of a fault
  double score_ns = 0;   ///< geometric mean over the search shapes of the median time
  double speedup = 0;    ///< against the task's baseline, geometric mean over the search shapes
  Bounds speedup_bounds; ///< 95 % prediction interval for another sitting
  /// As speedup, over the held-out shapes whose speed counts; 0: there is none.
  double held_out_speedup = 0;
  std::vector<SittingTime> times; ///< the search shapes, then the held-out shapes
  /// Races against each other finalist; the ranks follow from them. `blocks` counts rounds.
  std::vector<RaceResult> races;
};
WINNOW_FIELDS(SittingRow, kernel, verdict, detail, rank, score_ns, speedup, speedup_bounds,
              held_out_speedup, times, races)

/// A sitting: the finalists of one task and its baseline run in turns, launch after launch.
struct SittingResult {
  std::string device, device_name;
  std::string device_uuid, driver, worker; ///< as in Evaluation
  int evaluator_version = 0;
  std::uint64_t seed = 0;
  int rounds = 0;
  /// Standard deviation of the logarithm of the baseline's time between evaluations; 0: unknown.
  double baseline_spread = 0;
  /// Factor by which a speedup interval from outside the sitting must be widened.
  double widening = 1;
  std::string started_at; ///< ISO-8601 UTC
  double seconds = 0;
  std::vector<SittingRow> rows; ///< by rank; finalists without a rank are last
};
WINNOW_FIELDS(SittingResult, device, device_name, device_uuid, driver, worker, evaluator_version,
              seed, rounds, baseline_spread, widening, started_at, seconds, rows)

} // namespace winnow::tasks
