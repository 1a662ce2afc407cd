#pragma once

#include "profiling/statistics/race_verdict.h"

#include <cstddef>
#include <vector>

namespace winnow::profiling {

/// The level of each kernel's log time. The input is indexed by kernel, then turn. Effects that all
/// kernels of a turn share are removed (Tukey's median polish, 1977). Differences of levels are
/// consistent log ratios: a to b and b to c give a to c. A kernel may lack later turns. Times that
/// are not positive are ignored. The level of a kernel without a time is NaN.
std::vector<double> log_levels(const std::vector<std::vector<double>>& times_ns);

/// The 95 % factor between two sittings: if a value has this spread (standard deviation of its
/// logarithm) in each sitting, two sittings differ by at most this factor with probability 95 %.
double repeat_factor(double spread);

/// The times of one round at one shape, indexed by kernel, then turn. A kernel may lack later
/// turns.
using RoundTimes = std::vector<std::vector<double>>;

/// Several kernels timed against each other in a few rounds. The rounds are separated in time, and
/// each has its own processes. The level of a kernel is taken over the turns of all rounds, then
/// averaged over the shapes. Launches of one round resemble each other, so the standard error comes
/// from the rounds: a delete-half jackknife over rounds, with Student's t and one degree of freedom
/// less than rounds.
class Sitting {
public:
  /// Indexed by shape, then round. Every shape has the same number of rounds; only the first ten
  /// count. Every round has the same number of kernels.
  explicit Sitting(const std::vector<std::vector<RoundTimes>>& shapes);

  std::size_t rounds() const { return rounds_; }
  /// Time of `other` / time of `one`: above 1, `one` is faster.
  double ratio(std::size_t one, std::size_t other) const;
  /// Contains the true ratio with probability 99 % while the state of the machine does not change.
  /// From 0 to infinity with fewer than two rounds.
  Interval interval(std::size_t one, std::size_t other) const;
  /// Contains the ratio of another sitting with probability 95 %. `spread` is the standard
  /// deviation between sittings that the rounds of one sitting do not show.
  Interval repeat_interval(std::size_t one, std::size_t other, double spread) const;
  /// The verdict on `one` from interval(). Tie: the interval lies within half a percent of 1.
  RaceVerdict verdict(std::size_t one, std::size_t other) const;
  /// The kernels from the fastest to the slowest.
  std::vector<std::size_t> order() const;
  /// The ranks of the kernels in this order, from 1. A kernel shares the rank of the kernel before
  /// it, unless it is Slower than one of the kernels with that rank.
  std::vector<int> ranks(const std::vector<std::size_t>& order) const;

private:
  double log_ratio(std::size_t one, std::size_t other) const;
  double standard_error(std::size_t one, std::size_t other) const; // of log_ratio()
  double quantile(double upper_tail) const;                        // of Student's t distribution

  std::size_t rounds_ = 0;
  std::vector<double> levels_;              // by kernel
  std::vector<std::vector<double>> halves_; // levels for each choice of half of the rounds
};

} // namespace winnow::profiling
