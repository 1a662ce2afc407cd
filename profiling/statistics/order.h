#pragma once

#include <span>
#include <vector>

namespace winnow::profiling {

/// The finite ones, as they come.
std::vector<double> finite(std::span<const double> values);
/// The finite ones above 0, as they come.
std::vector<double> positive(std::span<const double> values);
/// Of at least one value; reorders them.
double median_of(std::vector<double>& values);
/// Of at least one value in ascending order, between two neighbours linearly; `share` from 0 to 1.
double quantile_of_sorted(std::span<const double> sorted, double share);

} // namespace winnow::profiling
