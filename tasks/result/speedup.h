#pragma once

#include "base/text/number_text.h"
#include "tasks/result/evaluation.h"

#include <string>
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

/// Whether the ends of an interval lie further apart than a factor of 100: ten to either side.
bool is_unsure(const Bounds& bounds);
/// "1.98x"; "~2x" if its interval is_unsure(); empty for 0 and below.
std::string speedup_text(double speedup, const Bounds& bounds = {});
/// "1.93-2.03"; empty if not known.
std::string speedup_interval_text(const Bounds& bounds);

} // namespace winnow::tasks
