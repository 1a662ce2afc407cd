#include "profiling/statistics/distributions.h"
#include "profiling/statistics/order.h"
#include "profiling/statistics/summary.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace winnow::profiling {
namespace {

constexpr std::size_t kMinSamples = 5;
constexpr int kDraws = 2000;
constexpr double kNegligible = 1e-9; // ranks with a lower probability are never drawn

bool is_time(double sample) {
  return std::isfinite(sample) && sample > 0;
}

std::vector<double> ratios_of(std::span<const double> numerators,
                              std::span<const double> denominators) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(numerators.size(), denominators.size()); ++i) {
    if (is_time(numerators[i]) && is_time(denominators[i])) {
      ratios.push_back(numerators[i] / denominators[i]);
    }
  }
  return ratios;
}

// Never 0 or 1. The same on every machine, unlike std::uniform_real_distribution.
double uniform(std::mt19937_64& random) {
  return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
}

// Draws medians of resamples without resampling. A resample of n draws n uniform positions among
// the order statistics. The j-th smallest of n uniform numbers follows beta(j, n - j + 1).
class MedianResampler {
public:
  explicit MedianResampler(std::vector<double> samples) : sorted_(std::move(samples)) {
    std::sort(sorted_.begin(), sorted_.end());
    const auto count = static_cast<double>(sorted_.size());
    const double below = std::floor((count + 1) / 2); // the lower of the two middle ranks
    for (std::size_t rank = 1; rank <= sorted_.size(); ++rank) {
      const double chance =
          regularized_beta(static_cast<double>(rank) / count, below, count - below + 1);
      if (chance > kNegligible) {
        chances_.push_back(chance);
      } else {
        first_ = rank;
      }
      if (chance > 1 - kNegligible) {
        break;
      }
    }
    chances_.back() = 1;
    above_ = 1 / (count - below);
  }

  double operator()(std::mt19937_64& random) const {
    const double chance = uniform(random);
    const auto found = std::upper_bound(chances_.begin(), chances_.end() - 1, chance);
    const auto rank = first_ + static_cast<std::size_t>(found - chances_.begin());
    if (sorted_.size() % 2 == 1) {
      return sorted_[rank];
    }
    // The next larger uniform number, given this one.
    const double before = found == chances_.begin() ? 0 : *(found - 1);
    const auto count = static_cast<double>(sorted_.size());
    const double position =
        (static_cast<double>(rank) + (chance - before) / (*found - before)) / count;
    const double next = 1 - (1 - position) * std::pow(uniform(random), above_);
    const auto next_rank = static_cast<std::size_t>(next * count);
    return (sorted_[rank] + sorted_[std::clamp(next_rank, rank, sorted_.size() - 1)]) / 2;
  }

private:
  std::vector<double> sorted_;
  std::vector<double> chances_; // P(rank of the lower median <= first_ + i)
  std::size_t first_ = 0;
  double above_ = 0;
};

Interval percentiles(const std::function<double()>& draw, double confidence) {
  std::vector<double> draws(kDraws);
  std::generate(draws.begin(), draws.end(), draw);
  const double tail = (1 - std::clamp(confidence, 0.0, 1.0)) / 2;
  const double low = quantile_of(draws, tail);
  return {low, quantile_of(draws, 1 - tail)};
}

} // namespace

std::optional<Interval> bootstrap_median_interval(std::span<const double> samples,
                                                  double confidence, std::uint64_t seed) {
  std::vector<double> kept = finite(samples);
  if (kept.size() < kMinSamples) {
    return std::nullopt;
  }
  std::mt19937_64 random(seed);
  const MedianResampler median(std::move(kept));
  return percentiles([&] { return median(random); }, confidence);
}

std::optional<Interval> bootstrap_mean_interval(std::span<const double> samples, double confidence,
                                                std::uint64_t seed) {
  const std::vector<double> kept = finite(samples);
  if (kept.size() < kMinSamplesOfMean) {
    return std::nullopt;
  }
  std::mt19937_64 random(seed);
  const auto mean_of_resample = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      sum += kept[random() % kept.size()];
    }
    return sum / static_cast<double>(kept.size());
  };
  return percentiles(mean_of_resample, confidence);
}

std::optional<double> paired_ratio(std::span<const double> numerators,
                                   std::span<const double> denominators) {
  const auto summary = summarize(ratios_of(numerators, denominators));
  return summary ? std::optional(summary->median) : std::nullopt;
}

std::optional<Interval> paired_ratio_interval(std::span<const double> numerators,
                                              std::span<const double> denominators,
                                              double confidence, std::uint64_t seed) {
  return bootstrap_median_interval(ratios_of(numerators, denominators), confidence, seed);
}

} // namespace winnow::profiling
