#include "lab/estimate.h"

#include "profiling/statistics/distributions.h"

#include <cmath>

namespace winnow::lab {

Estimate estimate(std::span<const double> values) {
  constexpr double kTail = 0.025;
  const auto count = static_cast<double>(values.size());
  if (values.empty()) {
    return {};
  }
  double mean = 0, squares = 0;
  for (const double value : values) {
    mean += value / count;
  }
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
  }
  if (values.size() < 2) {
    return {mean, mean, mean};
  }
  const double error = std::sqrt(squares / (count - 1) / count);
  const double half = profiling::student_quantile(kTail, count - 1) * error;
  return {mean, mean - half, mean + half};
}

} // namespace winnow::lab
