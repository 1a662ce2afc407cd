#pragma once

namespace winnow::profiling {

struct Interval {
  double low = 0;
  double high = 0;
};

} // namespace winnow::profiling
