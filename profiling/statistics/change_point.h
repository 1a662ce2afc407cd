#pragma once

#include <cstddef>
#include <span>

namespace winnow::profiling {

/// Where a series of samples changes its level most clearly.
struct ChangePoint {
  std::size_t first = 0; ///< index of the first sample after the change
  double p_value = 1;    ///< of "the order of the samples is random"; small: there is a change
  double before = 0;     ///< median of the samples before the change
  double after = 0;      ///< median of the samples from it on
};

/// Pettitt's rank test (Applied Statistics 28, 1979), which assumes no distribution. Its p-value is
/// the usual approximation 2 exp(-6 K^2 / (n^3 + n^2)). Fewer than two samples: no change.
ChangePoint change_point(std::span<const double> samples);

} // namespace winnow::profiling
