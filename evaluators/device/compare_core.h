// How far one element is from what it should be: the same arithmetic on hosts and devices (fused
// multiply-adds may change the last bit of a limit). Includes and calls nothing else: the text of
// this file also goes into device code (gpu/helper_kernels.h), behind that of dtype_core.h.
#pragma once

#include "tasks/inputs/dtype_core.h"

namespace winnow::evaluators {

/// What the elements of one floating output are allowed (docs/task.md, tolerance).
struct ErrorLimits {
  double unit = 0;          ///< epsilon of the precision in which sums are formed
  double multiple = 0;      ///< of unit * magnitude, for an element
  double norm_multiple = 0; ///< of unit * magnitude, for the rms over all elements
  double rounding = 0;      ///< of the output: times |expected|
  double absolute = 0;
  bool nan_allowed = false; ///< where NaN is expected
};

struct ElementError {
  double limit = 0; ///< multiple * unit * magnitude + rounding * |expected| + absolute
  double ratio = 0; ///< difference / limit: above 1 is wrong; infinite for a stray NaN or infinity
  double units = 0; ///< difference without rounding and absolute / (unit * magnitude)
  bool counts = false; ///< for the rms: `absolute` is not the larger part of the limit
};

/// What many elements come to. To a kernel, an array of four 64-bit numbers.
struct ErrorTotals {
  unsigned long long beyond = 0;  ///< elements beyond their limit
  unsigned long long counted = 0; ///< elements that count for the rms
  double max_ratio = 0;
  double square_sum = 0; ///< of the units of those that count

  TASKS_ANYWHERE void add(const ElementError& error) {
    beyond += error.ratio > 1 ? 1 : 0;
    max_ratio = error.ratio > max_ratio ? error.ratio : max_ratio;
    if (error.counts) {
      ++counted;
      square_sum += error.units * error.units;
    }
  }
  TASKS_ANYWHERE void add(const ErrorTotals& other) {
    beyond += other.beyond;
    counted += other.counted;
    max_ratio = other.max_ratio > max_ratio ? other.max_ratio : max_ratio;
    square_sum += other.square_sum;
  }
};

TASKS_ANYWHERE inline double absolute_of(double value) {
  return value < 0 ? -value : value;
}

/// NaN is right where it is expected and allowed, an infinity only where it is expected.
TASKS_ANYWHERE inline ElementError error_of(double got, double expected, double magnitude,
                                            const ErrorLimits& limits) {
  const double infinity = __builtin_bit_cast(double, 0x7ff0000000000000ULL);
  const double scale = limits.unit * absolute_of(magnitude);
  const double allowance = limits.rounding * absolute_of(expected) + limits.absolute;
  ElementError error;
  error.limit = limits.multiple * scale + allowance;
  error.counts = limits.multiple * scale > limits.absolute;
  if (got == expected || (got != got && expected != expected && limits.nan_allowed)) {
    return error;
  }
  const double difference = absolute_of(got - expected);
  if (!(error.limit > 0 && error.limit < infinity && difference < infinity)) {
    return {error.limit, infinity, infinity, true};
  }
  error.ratio = difference / error.limit;
  if (error.counts && difference > allowance) {
    error.units = (difference - allowance) / scale;
  }
  return error;
}

} // namespace winnow::evaluators
