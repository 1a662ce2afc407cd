#pragma once

#include "base/fields.h"

#include <cstdint>
#include <string>
#include <vector>

namespace winnow::store {

/// The time of a task's baseline in one evaluation.
struct BaselineTime {
  std::string device_uuid; ///< of the GPU; empty: a CPU or not known, so the time is ignored
  double ns = 0;           ///< geometric mean over the search shapes
};

/// How much the time of a task's baseline differs between GPUs of one model.
struct GpuSpread {
  std::string task, task_digest, device, device_name; ///< with the evaluator: the board
  std::int64_t evaluator_version = 0;
  std::string time_versus;      ///< what was timed: tasks::speedup_versus() of the task
  std::int64_t gpus = 0;        ///< that have timed the baseline
  std::int64_t evaluations = 0; ///< that the numbers rest on
  /// Time on the slowest GPU / time on the fastest GPU - 1. The time on a GPU is the median over
  /// its evaluations. 0: fewer than two GPUs. With few evaluations their noise makes it larger.
  double between = 0;
  /// Standard deviation of the logarithm of the time between evaluations on one GPU, over all GPUs.
  /// 0: no GPU has two evaluations.
  double within = 0;
};
WINNOW_FIELDS(GpuSpread, task, task_digest, device, device_name, evaluator_version, time_versus,
              gpus, evaluations, between, within)

/// Sets the numbers only, not the board.
GpuSpread spread_of(const std::vector<BaselineTime>& times);

/// "GPUs of this model differ by up to 0.72 % in the time of baseline.cu (4 GPUs, 12 evaluations;
/// ...)", with how much one GPU varies.
std::string to_string(const GpuSpread& spread);

} // namespace winnow::store
