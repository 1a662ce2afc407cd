#include "profiling/statistics/order.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace winnow::profiling {

std::vector<double> finite(std::span<const double> values) {
  std::vector<double> kept;
  kept.reserve(values.size());
  std::copy_if(values.begin(), values.end(), std::back_inserter(kept),
               [](double value) { return std::isfinite(value); });
  return kept;
}

std::vector<double> positive(std::span<const double> values) {
  std::vector<double> kept;
  kept.reserve(values.size());
  std::copy_if(values.begin(), values.end(), std::back_inserter(kept),
               [](double value) { return std::isfinite(value) && value > 0; });
  return kept;
}

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) {
    return *middle;
  }
  return std::midpoint(*middle, *std::max_element(values.begin(), middle));
}

namespace {

double position_of(double share, std::size_t count) {
  return std::clamp(share, 0.0, 1.0) * static_cast<double>(count - 1);
}

} // namespace

double quantile_of_sorted(std::span<const double> sorted, double share) {
  const double position = position_of(share, sorted.size());
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

double quantile_of(std::vector<double>& values, double share) {
  const double position = position_of(share, values.size());
  const auto below = values.begin() + static_cast<std::ptrdiff_t>(position);
  std::nth_element(values.begin(), below, values.end());
  const double above =
      below + 1 == values.end() ? *below : *std::min_element(below + 1, values.end());
  return std::lerp(*below, above, position - std::floor(position));
}

} // namespace winnow::profiling
