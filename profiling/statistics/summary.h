#pragma once

#include "profiling/statistics/race_verdict.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace winnow::profiling {

/// All functions in this file ignore samples that are not finite. Functions of ratios also ignore
/// samples that are not positive, because no launch takes zero time. The order and scale of samples
/// do not matter unless a comment says so.

struct Summary {
  std::size_t count = 0; ///< of finite samples
  double median = 0, mean = 0, minimum = 0, maximum = 0;
  double first_quartile = 0, third_quartile = 0; ///< interpolated linearly
};

/// Empty without a finite sample.
std::optional<Summary> summarize(std::span<const double> samples);

inline constexpr double kConfidence = 0.95;
inline constexpr std::uint64_t kBootstrapSeed = 0x77696e6e6f77;

/// Percentile bootstrap interval of the median (Efron 1979); empty below five samples. The same
/// samples, confidence and seed give the same interval.
///
/// The function does not resample. The rank of a resample's median follows a beta distribution
/// (Maritz and Jarrett 1978; David and Nagaraja, "Order Statistics", 2003). So a draw is one table
/// look-up, whatever the number of samples.
std::optional<Interval> bootstrap_median_interval(std::span<const double> samples,
                                                  double confidence = kConfidence,
                                                  std::uint64_t seed = kBootstrapSeed);

/// If five samples have one sign, a sign test still finds a mean of 0 possible (p = 0.0625).
inline constexpr std::size_t kMinSamplesOfMean = 6;
/// Percentile bootstrap interval of the mean (Efron 1979); empty below kMinSamplesOfMean samples.
/// The same samples, confidence and seed give the same interval.
std::optional<Interval> bootstrap_mean_interval(std::span<const double> samples,
                                                double confidence = kConfidence,
                                                std::uint64_t seed = kBootstrapSeed);

/// Median of numerators[i] / denominators[i]. The two series were taken in turns, so their common
/// noise cancels. Ignores surplus samples of the longer series and pairs with a bad sample. Empty
/// without a pair.
std::optional<double> paired_ratio(std::span<const double> numerators,
                                   std::span<const double> denominators);

/// Interval of paired_ratio(), computed as in bootstrap_median_interval().
std::optional<Interval> paired_ratio_interval(std::span<const double> numerators,
                                              std::span<const double> denominators,
                                              double confidence = kConfidence,
                                              std::uint64_t seed = kBootstrapSeed);

/// Whether positive samples fall into two groups, for instance from two clock states. The cut
/// minimises the variance within the groups (Otsu 1979). Each group must have a tenth of the
/// samples and at least three. Their means must differ by at least 1 % and by four standard
/// deviations within groups (Ashman, Bird and Zepf's D, 1994, with pooled variance; for the halves
/// of a normal distribution D is 2.7). False below 24 samples.
bool is_bimodal(std::span<const double> samples);

struct Drift {
  double relative_change = 0; ///< of the median, from first to last sample; positive: slower
  double p_value = 1;         ///< two-sided, of "no drift"
  bool significant = false;   ///< p_value < 0.01
};

/// Of positive samples in the order they were taken: the change after Theil and Sen's median slope,
/// its significance after Mann and Kendall with ties (normal approximation). Successive samples
/// that resemble each other make p_value too small. Above 256 samples, medians of 256 or fewer
/// runs of successive samples stand for them. Nothing below five samples.
std::optional<Drift> drift(std::span<const double> samples);

/// How many samples lie more than 1.5 interquartile ranges above the third quartile (Tukey 1977).
std::size_t outliers(std::span<const double> samples);

} // namespace winnow::profiling
