#pragma once

#include <span>
#include <vector>

namespace winnow::profiling {

/// The finite values, in the same order.
std::vector<double> finite(std::span<const double> values);
/// The finite values above 0, in the same order.
std::vector<double> positive(std::span<const double> values);
/// The median of at least one value. Reorders `values`.
double median_of(std::vector<double>& values);
/// The quantile of at least one value in ascending order, with linear interpolation. `share` is 0
/// to 1.
double quantile_of_sorted(std::span<const double> sorted, double share);
/// The same of values in any order. Reorders `values`.
double quantile_of(std::vector<double>& values, double share);

} // namespace winnow::profiling
