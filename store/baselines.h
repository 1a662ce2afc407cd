#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace winnow::store {

/// A task's operation at one shape as a library or framework does it, measured once.
struct BaselineTiming {
  std::string task;        ///< its name; filled in when read
  std::string name;        ///< "torch eager", "torch.compile", "cublaslt"
  std::string version;     ///< of the library: "2.9.1+cu130"
  std::string device;      ///< "cpu", "cuda", "hip"
  std::string device_name; ///< "NVIDIA H200": times of different devices are never compared
  std::string shape_id;    ///< "search/0"; tiny shapes are compared only, not timed
  std::string shape;       ///< "n=1000"
  std::optional<double> median_ns;
  std::vector<double> times_ns; ///< raw, in order
  /// Largest difference from reference.cu relative to the one that is allowed.
  std::optional<double> max_error_ratio;
  std::optional<bool> agrees; ///< with reference.cu; nullopt: it gave no answer
  std::string error;          ///< why there is no answer, or where it differs; empty: neither
  std::string recorded_at;    ///< ISO-8601 UTC; set when written
};

/// A library or framework beside the task's baseline.cu, on one device.
struct BaselineStanding {
  std::string task, task_digest, device, device_name;
  std::int64_t evaluator_version = 0;
  std::string name, version;
  /// Its time relative to baseline.cu's, geometric mean over the search shapes: 0.5 is twice as
  /// fast. 0: some shape lacks one of the two times, or an answer that agrees with reference.cu.
  double relative_time = 0;
  std::int64_t shapes = 0; ///< search shapes with a time
  bool agrees = false;     ///< with reference.cu at every shape that gave an answer
  std::string note;        ///< why relative_time is 0; else empty
};

} // namespace winnow::store
