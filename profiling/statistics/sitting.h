#pragma once

#include "profiling/statistics/interval.h"
#include "profiling/statistics/race.h"

#include <cstddef>
#include <vector>

namespace winnow::profiling {

/// The level of each kernel's log time, from times by kernel and turn, with what the kernels of a
/// turn had in common taken away (Tukey's median polish, 1977). Differences of levels are log
/// ratios that fit together: a to b and b to c give a to c. Later turns may lack kernels; times
/// that are not positive are left out. NaN for a kernel without a time.
std::vector<double> log_levels(const std::vector<std::vector<double>>& times_ns);

/// What has this spread (standard deviation of a logarithm) in each of two sittings differs between
/// them by at most this factor, with 95 %.
double repeat_factor(double spread);

/// Times of one round at one shape, by kernel and turn. Later turns may lack kernels.
using RoundTimes = std::vector<std::vector<double>>;

/// Several kernels timed against each other in a few rounds, each apart from the one before in time
/// and with processes of its own. Levels are over the turns of all rounds, the mean over shapes.
/// Their error is what leaving out one round changes (jackknife over rounds; Student's t, one
/// degree of freedom less than rounds): launches of one round resemble each other.
class Sitting {
public:
  /// By shape and round; every shape has as many rounds (ten count at most), every round as many
  /// kernels.
  explicit Sitting(const std::vector<std::vector<RoundTimes>>& shapes);

  std::size_t rounds() const { return rounds_; }
  /// Time of `other` / time of `one`: above 1, `one` is faster.
  double ratio(std::size_t one, std::size_t other) const;
  /// Holds the true ratio as long as the machine stays as it is, with 99 %; from 0 to infinity with
  /// fewer than two rounds.
  Interval interval(std::size_t one, std::size_t other) const;
  /// Holds what another sitting will find, with 95 %. `spread`: standard deviation of what sittings
  /// differ by that rounds do not show.
  Interval repeat_interval(std::size_t one, std::size_t other, double spread) const;
  /// Of `one`: by interval(); Tie: it lies within half a percent of 1.
  RaceVerdict verdict(std::size_t one, std::size_t other) const;
  /// The kernels from the fastest to the slowest.
  std::vector<std::size_t> order() const;
  /// Of the kernels in this order, from 1. Two that follow each other share a rank unless a verdict
  /// tells the later one from one that has this rank already.
  std::vector<int> ranks(const std::vector<std::size_t>& order) const;

private:
  double log_ratio(std::size_t one, std::size_t other) const;
  double standard_error(std::size_t one, std::size_t other) const; // of that
  double quantile(double upper_tail) const;                        // of Student's t

  std::size_t rounds_ = 0;
  std::vector<double> levels_;              // by kernel
  std::vector<std::vector<double>> halves_; // the same of each half of the rounds
};

} // namespace winnow::profiling
