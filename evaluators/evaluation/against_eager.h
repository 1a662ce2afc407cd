#pragma once

#include "evaluators/evaluation/task_on_device.h"
#include "profiling/statistics/interval.h"

#include <vector>

namespace winnow::evaluators {

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
