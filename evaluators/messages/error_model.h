#pragma once

#include "tasks/inputs/dtype.h"

#include <algorithm>

namespace winnow::evaluators {

/// A task's tolerance at one shape (docs/task.md).
struct ErrorModel {
  tasks::Precision accumulate = tasks::Precision::F32;
  double multiple = 0;
  double norm_multiple = 0;
  double absolute = 0;
  bool nan_allowed = false;
};

/// How far the errors of outputs are from their limits; above 1 is wrong.
struct ErrorRatios {
  double element = 0; ///< largest error / limit of its element; infinite for a NaN that is wrong
  double norm = 0;    ///< rms / norm_multiple; 0 for an output that is compared exactly

  void add(const ErrorRatios& other) { ///< keeps the larger of each
    element = std::max(element, other.element);
    norm = std::max(norm, other.norm);
  }
  [[nodiscard]] double larger() const { return std::max(element, norm); }
};

} // namespace winnow::evaluators
