#pragma once

#include "base/fields.h"
#include "tasks/result/evaluation.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace winnow::store {

/// One measurement of a library or framework that computes a task's operation at one shape.
struct BaselineTiming {
  std::string task;        ///< name of the task; set when read
  std::string name;        ///< "torch eager", "torch.compile", "cublaslt"
  std::string version;     ///< version of the library: "2.9.1+cu130"
  std::string device;      ///< "cpu", "cuda", "hip"
  std::string device_name; ///< "NVIDIA H200"; times of different devices are never compared
  std::string shape_id;    ///< "search/0"; tiny shapes are only checked, not timed
  std::string shape;       ///< "n=1000"
  std::optional<double> median_ns;
  std::vector<double> times_ns; ///< raw, in order
  /// Largest difference from reference.cu / allowed difference.
  std::optional<double> max_error_ratio;
  std::optional<bool> agrees; ///< with reference.cu; nullopt: there is no answer
  std::string error;          ///< why there is no answer, or where it is wrong; else empty
  std::string recorded_at;    ///< ISO-8601 UTC; set when written
};
WINNOW_FIELDS(BaselineTiming, task, name, version, device, device_name, shape_id, shape, median_ns,
              times_ns, max_error_ratio, agrees, error, recorded_at)

/// A library or framework compared on one device with the task's baseline.cu, or with PyTorch eager
/// if the task has none.
struct BaselineStanding {
  std::string time_versus; ///< tasks::speedup_versus() of the task
  std::string task, task_digest, device, device_name;
  std::int64_t evaluator_version = 0;
  std::string name, version;
  /// Time / time of `time_versus`, geometric mean over the search shapes: 0.5 is twice as fast. 0
  /// if one of the times is missing at a shape, or if an answer does not agree with reference.cu.
  double relative_time = 0;
  /// 95 % interval from the samples of the library or framework alone: those of `time_versus` were
  /// taken in another session.
  tasks::Bounds relative_bounds;
  std::int64_t shapes = 0; ///< search shapes with a time
  bool agrees = false;     ///< with reference.cu, at every shape with an answer
  std::string note;        ///< why relative_time is 0; else empty
};
WINNOW_FIELDS(BaselineStanding, time_versus, task, task_digest, device, device_name,
              evaluator_version, name, version, relative_time, relative_bounds, shapes, agrees,
              note)

} // namespace winnow::store
