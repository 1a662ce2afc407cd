#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace winnow::lab {

/// The point with the least value that the simplex of Nelder and Mead (1965) finds from `start`
/// within so many evaluations. `step`: the size of the first simplex in each direction.
/// Deterministic.
std::vector<double> minimise(const std::function<double(const std::vector<double>&)>& function,
                             const std::vector<double>& start, double step,
                             std::size_t evaluations);

} // namespace winnow::lab
