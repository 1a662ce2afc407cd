#pragma once

#include <cstdint>

namespace winnow::profiling {

/// A share with its 95 % interval, all from 0 to 1.
struct Proportion {
  double value = 0;
  double low = 0;
  double high = 1;
};

/// Wilson's score interval: its coverage is near 95 % for small counts and for shares near 0 or 1,
/// too. E. B. Wilson, J. Am. Stat. Assoc. 22, 209 (1927). `all` = 0: nothing is known.
Proportion wilson_interval(std::int64_t count, std::int64_t all);

} // namespace winnow::profiling
