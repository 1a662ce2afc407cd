#include "profiling/statistics/proportion.h"

#include <algorithm>
#include <cmath>

namespace winnow::profiling {

Proportion wilson_interval(std::int64_t count, std::int64_t all) {
  if (all <= 0) {
    return {};
  }
  constexpr double kZ = 1.959963984540054; // the 97.5 % quantile of the normal distribution
  const auto n = static_cast<double>(all);
  const double share = static_cast<double>(count) / n;
  const double scale = 1 + kZ * kZ / n;
  const double centre = (share + kZ * kZ / (2 * n)) / scale;
  const double half = kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n)) / scale;
  return {share, std::max(centre - half, 0.0), std::min(centre + half, 1.0)};
}

} // namespace winnow::profiling
