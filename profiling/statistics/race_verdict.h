#pragma once

#include <string_view>

namespace winnow::profiling {

struct Interval {
  double low = 0;
  double high = 0;
};

/// What a race says of the challenger, relative to the other kernel.
enum class RaceVerdict { Undecided, Faster, Slower, Tie, NotFaster };
/// "undecided", "faster", "slower", "tie", "not shown to be faster".
std::string_view to_string(RaceVerdict verdict);

constexpr double kTieMargin = 0.005; ///< a smaller difference of the ratio from 1 is a tie

/// The verdict that the interval of a ratio allows. Every verdict comes from here, so none says
/// more than the interval beside it. Tie: the interval lies within the margin. Faster, Slower: it
/// excludes 1. Else the kernels cannot be told apart: NotFaster if the race was given up, Undecided
/// if more launches may tell.
RaceVerdict race_verdict(const Interval& ratio, double tie_margin, bool given_up);

} // namespace winnow::profiling
