#include "profiling/statistics/race_verdict.h"

namespace winnow::profiling {

std::string_view to_string(RaceVerdict verdict) {
  switch (verdict) {
  case RaceVerdict::Undecided:
    return "undecided";
  case RaceVerdict::Faster:
    return "faster";
  case RaceVerdict::Slower:
    return "slower";
  case RaceVerdict::Tie:
    return "tie";
  case RaceVerdict::NotFaster:
    return "not shown to be faster";
  }
  return "undecided";
}

RaceVerdict race_verdict(const Interval& ratio, double tie_margin, bool given_up) {
  if (ratio.low >= 1 - tie_margin && ratio.high <= 1 + tie_margin) {
    return RaceVerdict::Tie;
  }
  if (ratio.low > 1) {
    return RaceVerdict::Faster;
  }
  if (ratio.high < 1) {
    return RaceVerdict::Slower;
  }
  return given_up ? RaceVerdict::NotFaster : RaceVerdict::Undecided;
}

} // namespace winnow::profiling
