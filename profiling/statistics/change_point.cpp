#include "profiling/statistics/change_point.h"

#include "profiling/statistics/order.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace winnow::profiling {
namespace {

// How many of `sorted` are smaller than `value`, less how many are larger.
std::ptrdiff_t smaller_less_larger(const std::vector<double>& sorted, double value) {
  const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
  return (first - sorted.begin()) - (sorted.end() - last);
}

double median_between(std::span<const double> samples) {
  std::vector<double> copy(samples.begin(), samples.end());
  return median_of(copy);
}

} // namespace

ChangePoint change_point(std::span<const double> samples) {
  ChangePoint change;
  if (samples.size() < 2) {
    return change;
  }
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  std::ptrdiff_t sum = 0;
  std::ptrdiff_t largest = -1;
  for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
    sum += smaller_less_larger(sorted, samples[i]);
    if (std::abs(sum) > largest) {
      largest = std::abs(sum);
      change.first = i + 1;
    }
  }
  const auto n = static_cast<double>(samples.size());
  const auto k = static_cast<double>(largest);
  change.p_value = std::min(1.0, 2 * std::exp(-6 * k * k / (n * n * n + n * n)));
  change.before = median_between(samples.first(change.first));
  change.after = median_between(samples.subspan(change.first));
  return change;
}

} // namespace winnow::profiling
