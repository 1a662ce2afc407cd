#pragma once

#include <span>

namespace winnow::lab {

/// A mean with its 95 % interval by Student's t. One value gives an interval of no width.
struct Estimate {
  double mean = 0;
  double low = 0;
  double high = 0;
};
Estimate estimate(std::span<const double> values);

} // namespace winnow::lab
