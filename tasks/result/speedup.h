#pragma once

#include "tasks/result/evaluation.h"

#include <vector>

namespace winnow::tasks {

/// A speedup with its 95 % interval.
struct Speedup {
  double value = 0; ///< 0: not known
  Bounds bounds;
};

/// The geometric mean of speedups: of a kernel over shapes, of a model over tasks. Their errors are
/// independent, so the variances of their logarithms add up. The interval is not known if one of
/// theirs is not known. Without speedups nothing is known.
Speedup mean_speedup(const std::vector<Speedup>& speedups);

} // namespace winnow::tasks
