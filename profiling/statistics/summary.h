#pragma once

#include "profiling/statistics/interval.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace winnow::profiling {

/// All functions here leave out samples that are not finite. Those of ratios leave out samples that
/// are not positive, too: no launch takes no time. Nothing is assumed about the order or scale of
/// samples unless it is said.

struct Summary {
  std::size_t count = 0; ///< of finite samples
  double median = 0, mean = 0, minimum = 0, maximum = 0;
  double first_quartile = 0, third_quartile = 0;   ///< between order statistics, linearly
  std::optional<double> standard_deviation;        ///< of the sample; from two samples on
  std::optional<double> relative_standard_error;   ///< of the mean; also needs a mean above 0
  std::optional<double> median_absolute_deviation; ///< as it is, not scaled; from two samples on
};

/// Empty without a finite sample.
std::optional<Summary> summarize(std::span<const double> samples);

inline constexpr double kConfidence = 0.95;
inline constexpr std::uint64_t kBootstrapSeed = 0x77696e6e6f77;

/// Percentile bootstrap interval of the median (Efron 1979); nothing below five samples. The same
/// samples, confidence and seed give the same interval.
///
/// No sample is drawn again: which order statistic a resample's median is follows a beta
/// distribution of its rank (Maritz and Jarrett 1978; David and Nagaraja, "Order Statistics",
/// 2003), so a draw takes a table look-up however many samples there are.
std::optional<Interval> bootstrap_median_interval(std::span<const double> samples,
                                                  double confidence = kConfidence,
                                                  std::uint64_t seed = kBootstrapSeed);

/// Median of numerators[i] / denominators[i]: two series taken by turns, whose common noise
/// cancels. Surplus samples of the longer one, and pairs with a bad sample, are left out. Empty
/// without a pair.
std::optional<double> paired_ratio(std::span<const double> numerators,
                                   std::span<const double> denominators);

/// Of paired_ratio(), as bootstrap_median_interval().
std::optional<Interval> paired_ratio_interval(std::span<const double> numerators,
                                              std::span<const double> denominators,
                                              double confidence = kConfidence,
                                              std::uint64_t seed = kBootstrapSeed);

/// Whether positive samples fall into two groups, as from two states of a clock: cut where the
/// variance within groups is least (Otsu 1979), each has a tenth of the samples and at least
/// three, and their means are at least 1 % and four standard deviations within groups apart
/// (Ashman, Bird and Zepf's D, 1994, with pooled variance; halves of a normal distribution are 2.7
/// apart). False below 24 samples.
bool is_bimodal(std::span<const double> samples);

struct Drift {
  double relative_change = 0; ///< from the first sample to the last, of the median; +: slower
  double p_value = 1;         ///< of "no drift", two-sided
  bool significant = false;   ///< p_value is below 0.01
};

/// Of positive samples in the order they were taken: the change after Theil and Sen's median slope,
/// its significance after Mann and Kendall with ties (normal approximation). Successive samples
/// that resemble each other make p_value too small. Above 256 samples, medians of 256 or fewer
/// runs of successive samples stand for them. Nothing below five samples.
std::optional<Drift> drift(std::span<const double> samples);

/// How many samples lie more than 1.5 interquartile ranges above the third quartile (Tukey 1977).
std::size_t outliers(std::span<const double> samples);

} // namespace winnow::profiling
