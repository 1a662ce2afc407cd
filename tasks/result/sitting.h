#pragma once

#include "tasks/result/evaluation.h"

#include <cstdint>
#include <string>
#include <vector>

namespace winnow::tasks {

/// A finalist at one search shape.
struct SittingTime {
  std::string shape_id;
  double median_ns = 0;
  double baseline_median_ns = 0;
};

/// What a sitting found out about one finalist.
struct SittingRow {
  std::string kernel; ///< kernel_digest() of its file and parameters
  /// Correct, or what it did wrong in the sitting, which costs it its place: no times then.
  Verdict verdict = Verdict::NotJudged;
  std::string detail;
  int rank = 0;          ///< from 1; 0: lost its place
  double score_ns = 0;   ///< geometric mean over the search shapes of the median time
  double speedup = 0;    ///< against the task's baseline, geometric mean over the search shapes
  Bounds speedup_bounds; ///< holds what another sitting finds, with 95 %
  double held_out_speedup = 0; ///< as speedup, over the held-out shapes
  std::vector<SittingTime> times;
  /// Against each other finalist; the rank says the same. `blocks`: rounds.
  std::vector<RaceResult> races;
};

/// The finalists of one task and its baseline, timed against each other launch beside launch.
struct SittingResult {
  std::string device, device_name;
  int evaluator_version = 0;
  std::uint64_t seed = 0;
  int rounds = 0;
  /// Standard deviation of the logarithm of the baseline's time between evaluations; 0: not known.
  double baseline_spread = 0;
  /// An interval of a speedup from outside of the sitting ends so many times further out.
  double widening = 1;
  std::string started_at; ///< ISO-8601 UTC
  double seconds = 0;
  std::vector<SittingRow> rows; ///< in the order of their rank, those who lost their place last
};

} // namespace winnow::tasks
