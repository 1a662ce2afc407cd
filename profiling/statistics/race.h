#pragma once

#include "profiling/statistics/interval.h"

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace winnow::profiling {

struct RaceRules {
  double error_rate = 0.005; ///< chance of Faster where both kernels are the same
  double tie_margin = 0.005; ///< ratios that differ from 1 by less are the same
  double hopeless = 0.02;    ///< chance of becoming Faster below which a race is given up; also the
                             ///< error rate of Slower, and of Tie by the margin
  double far = 0.05; ///< a race given up is no tie where the challenger seems slower by more
  double noise_floor = 0.0005; ///< spread of a block's ratio that is assumed at least
  int min_blocks = 3;          ///< of each shape
  int max_blocks = 50;         ///< of each shape
};

using TwoLaunches = std::array<double, 2>;

/// What the challenger is, compared with the other kernel.
enum class RaceVerdict { Undecided, Faster, Slower, Tie };
std::string_view to_string(RaceVerdict verdict);

/// Two kernels raced in blocks of four launches, challenger, other, other, challenger (ABBA), which
/// cancels linear drift and most of what successive launches have in common. Each block gives one
/// log ratio, of geometric means. Over several shapes the estimate is the mean of the shapes'
/// means: the geometric mean of ratios, each shape weighing the same however many blocks it has.
///
/// The test may be looked at after every block: its interval is a confidence sequence, Student's t
/// with a normal mixture over the effect and the right Haar prior over the unknown variance (Wang
/// and Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown
/// variance", 2023; Robbins 1970; Lai 1976). Variances of shapes are their own, pooled with Welch
/// and Satterthwaite's degrees of freedom; that part, and clipping, are approximations whose
/// error rates `race_bench` measures.
///
/// Outliers: from five blocks of a shape on, launches count by Huber's one-step estimate (Huber
/// 1964, Bickel 1975): what each differs from the level of the blocks around it, once the median
/// ratio is taken out, is clipped at 1.5 normal-consistent median absolute deviations. A launch
/// that was disturbed does not cost its block, and times with a tail take fewer launches. Then the
/// blocks' log ratios are winsorised at four such deviations, with as many degrees of freedom as
/// were left alone, less one (Tukey and McLaughlin 1963).
///
/// Timers tick: where few times differ, equal ones are no proof of little noise. The smallest
/// difference between two times of a kernel at a shape is taken for a tick, and no block's spread
/// is assumed to be less than rounding to ticks causes.
///
/// Giving up: the predictive chance that the blocks still allowed would lead to Faster (stochastic
/// curtailment; Lan, Simon and Halperin 1982) is below `hopeless`. That can only turn a Faster into
/// a Tie or Slower, never the reverse. A race given up is Slower if Student's t says so at
/// `error_rate`, else a Tie, or Undecided where the estimate is `far` from one.
class Race {
public:
  /// `shapes` at least 1. Nothing is decided before each shape has `min_blocks`.
  explicit Race(const RaceRules& rules = {}, std::size_t shapes = 1);

  /// One block: the times of the challenger's two launches and of the other's two. Blocks with a
  /// time that is not positive and finite, and shapes out of range, are ignored: see blocks().
  void add(const TwoLaunches& challenger_ns, const TwoLaunches& other_ns, std::size_t shape = 0);

  /// Of the blocks so far. Faster: interval() lies above 1. Slower: the interval with error rate
  /// `hopeless` lies below 1, or the race is given up. Tie: that interval lies within the margin,
  /// or the race is given up, or all blocks are spent.
  RaceVerdict verdict() const;
  /// other / challenger, as times: above 1 the challenger is faster. 1 before the first block of
  /// each shape.
  double ratio() const;
  /// Holds the true ratio, after all blocks so far and at any time of stopping, with probability
  /// 1 - 2 error_rate. From 0 to infinity while too little is known.
  Interval interval() const;
  /// Of "both take the same time", two-sided, valid at any time of stopping.
  double p_value() const;
  /// That counted, of all shapes.
  std::size_t blocks() const;
  std::size_t blocks(std::size_t shape) const;
  /// One shape's own ratio and interval, for tables; not corrected for looking at several.
  double ratio(std::size_t shape) const;
  Interval interval(std::size_t shape) const;

private:
  // A mean log ratio and what is known about its error.
  struct Estimate {
    double mean = 0;
    double variance = 0; // of the mean
    double degrees = 0;  // of freedom of `variance`
    double blocks = 0;   // that weigh as much: variance = (a block's variance) / blocks
  };

  struct Block {
    TwoLaunches challenger{}, other{}; // logarithms of times
    double log_ratio = 0;              // of their geometric means
  };

  struct Shape {
    std::vector<Block> blocks;
    std::vector<double> challenger, other; // the same, sorted
    double step = 0; // smallest difference between two of a kernel; 0: all are equal
    void add_time(std::vector<double>& times, double time);
    std::vector<double> log_ratios() const; // of blocks of clipped times
  };

  Estimate of_shape(const Shape& shape) const;
  Estimate combined() const;
  static double half_width(const Estimate& estimate, double two_sided_error);
  static Interval around(const Estimate& estimate, double two_sided_error);
  double chance_of_faster(const Estimate& now) const;
  bool enough_blocks(int wanted) const;
  RaceVerdict when_given_up(const Estimate& now) const;

  RaceRules rules_;
  std::vector<Shape> shapes_;
};

} // namespace winnow::profiling
