#pragma once

#include "evaluators/evaluation/evaluation_options.h"
#include "evaluators/evaluation/task_on_device.h"
#include "profiling/statistics/race_verdict.h"

#include <string>
#include <vector>

namespace winnow::evaluators {

/// The times of the task's module in PyTorch, eagerly, at this shape, in ns. Timed once per
/// TaskOnDevice and shape, while nothing else runs on the device. Throws Error.
const std::vector<double>& eager_times(TaskOnDevice& on_device, const tasks::Shape& shape);

/// How many times as fast as PyTorch a kernel is: the geometric mean over some shapes.
struct AgainstEager {
  double ratio = 1;
  tasks::Bounds bounds{1, 1}; ///< 95 %
};

/// `samples_ns`: of the kernel, one list for each shape. eager_times() must have timed the shapes.
AgainstEager against_eager(const TaskOnDevice& on_device, const std::vector<tasks::Shape>& shapes,
                           const std::vector<std::vector<double>>& samples_ns);

/// The bounds of `ratio * eager.ratio`. The two errors are independent.
tasks::Bounds bounds_of_product(double ratio, const profiling::Interval& bounds,
                                const AgainstEager& eager);

} // namespace winnow::evaluators
