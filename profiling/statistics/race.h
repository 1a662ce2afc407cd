#pragma once

#include "profiling/statistics/race_verdict.h"

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace winnow::profiling {

struct RaceRules {
  double error_rate = 0.005; ///< probability of Faster, and of Slower, if both kernels are the same
  double tie_margin = kTieMargin;
  /// A race is given up if the probability of Faster is below this value, or if the interval with
  /// this error rate lies within the margin.
  double hopeless = 0.02;
  double noise_floor = 0.0005; ///< least assumed spread of a block's ratio
  int min_blocks = 3;          ///< per shape
  int max_blocks = 50;         ///< per shape
};

using TwoLaunches = std::array<double, 2>;

/// A race of two kernels in blocks of four launches in the order challenger, other, other,
/// challenger (ABBA). This order cancels linear drift and most noise that successive launches
/// share. Each block gives one log ratio, between geometric means. Over several shapes the estimate
/// is the mean of the shapes' means. So it is the log of a geometric mean of ratios, and each shape
/// has the same weight, whatever its number of blocks.
///
/// The test may be evaluated after every block: its interval is a confidence sequence. The sequence
/// is Student's t with a normal mixture over the effect and the right Haar prior over the unknown
/// variance (Wang and Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means
/// with unknown variance", 2023; Robbins 1970; Lai 1976). Each shape has its own variance; Welch
/// and Satterthwaite's degrees of freedom pool them. The pooling and the clipping are
/// approximations; docs/measurements/trust.md has their error rates.
///
/// Outliers: from five blocks of a shape on, the launches enter through Huber's one-step estimate
/// (Huber 1964, Bickel 1975). It takes the median ratio out of the times and subtracts the level of
/// the surrounding blocks. Then it clips the residuals at 1.5 normal-consistent median absolute
/// deviations. So a disturbed launch does not cost its block, and times with a tail need fewer
/// launches. After that, the blocks' log ratios are winsorised at four such deviations. The degrees
/// of freedom are the number of unchanged blocks less one (Tukey and McLaughlin 1963).
///
/// Timer resolution: if few times differ, equal times do not prove low noise. The smallest
/// difference between two times of a kernel at a shape counts as the timer's tick. The assumed
/// spread of a block is at least the spread from rounding to ticks.
///
/// Giving up: the race ends if the predictive probability that the remaining blocks lead to Faster
/// is below `hopeless` (stochastic curtailment; Lan, Simon and Halperin 1982), but not before
/// interval() has an end. This saves launches and says nothing about the kernels: the verdict of
/// such a race is NotFaster, unless interval() says more.
class Race {
public:
  /// `shapes` is at least 1.
  explicit Race(const RaceRules& rules = {}, std::size_t shapes = 1);

  /// Adds one block: the times of two launches of the challenger and of two of the other kernel.
  /// Ignores the block if a time is not positive and finite, or if `shape` is out of range.
  /// blocks() counts the accepted blocks.
  void add(const TwoLaunches& challenger_ns, const TwoLaunches& other_ns, std::size_t shape = 0);

  /// What interval() says, by race_verdict().
  RaceVerdict verdict() const;
  /// time of other / time of challenger: above 1 the challenger is faster. Unknown before each
  /// shape has a block.
  std::optional<double> ratio() const;
  /// Contains the true ratio with probability 1 - 2 error_rate, whenever the race stops. From 0 to
  /// infinity as long as a shape has fewer than `min_blocks`, or the blocks are too few.
  Interval interval() const;
  /// The accepted blocks of all shapes.
  std::size_t blocks() const;
  std::optional<double> ratio(std::size_t shape) const; ///< of one shape

private:
  // A mean log ratio and its error.
  struct Estimate {
    double mean = 0;
    double variance = 0; // of the mean
    double degrees = 0;  // of freedom of `variance`
    double blocks = 0;   // effective number: variance = (a block's variance) / blocks
  };

  struct Block {
    TwoLaunches challenger{}, other{}; // logarithms of the times
    double log_ratio = 0;              // log of the ratio of the geometric means
  };

  struct Shape {
    std::vector<Block> blocks;
    std::vector<double> challenger, other; // logarithms of the times, sorted
    double step = 0; // smallest difference between two times of a kernel; 0: all are equal
    void add_time(std::vector<double>& times, double time);
    std::vector<double> log_ratios() const; // one per block, from clipped times
  };

  Estimate of_shape(const Shape& shape) const;
  Estimate combined() const;
  static double half_width(const Estimate& estimate, double two_sided_error);
  static Interval around(const Estimate& estimate, double two_sided_error);
  Interval interval_of(const Estimate& all) const;
  double chance_of_faster(const Estimate& now) const;
  bool enough_blocks(int wanted) const;
  bool is_given_up(const Estimate& now) const;

  RaceRules rules_;
  std::vector<Shape> shapes_;
};

} // namespace winnow::profiling
