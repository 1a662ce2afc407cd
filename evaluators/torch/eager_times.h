#pragma once

#include "evaluators/evaluation/task_on_device.h"

#include <vector>

namespace winnow::evaluators {

/// The times of the task's module in PyTorch, eagerly, at this shape, in ns. Timed once per
/// TaskOnDevice and shape, while nothing else runs on the device. Throws Error.
const std::vector<double>& eager_times(TaskOnDevice& on_device, const tasks::Shape& shape);

} // namespace winnow::evaluators
