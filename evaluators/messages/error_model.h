#pragma once

#include "tasks/inputs/dtype.h"

namespace winnow::evaluators {

/// A task's tolerance at one shape (docs/task.md).
struct ErrorModel {
  tasks::Precision accumulate = tasks::Precision::F32;
  double multiple = 0;
  double norm_multiple = 0;
  double absolute = 0;
  bool nan_allowed = false;
};

} // namespace winnow::evaluators
