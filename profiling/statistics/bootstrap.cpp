#include "profiling/statistics/distributions.h"
#include "profiling/statistics/order.h"
#include "profiling/statistics/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

namespace winnow::profiling {
namespace {

constexpr std::size_t kMinSamples = 5;
constexpr int kDraws = 2000;
constexpr std::size_t kMostKnown = 256; // numbers of samples whose drawn ranks are kept
constexpr double kNegligible = 1e-9;    // ranks with a lower probability are never drawn

// Below an interval, and above it.
double tail_of(double confidence) {
  return (1 - std::clamp(confidence, 0.0, 1.0)) / 2;
}

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

// Which order statistics are the median of a resample: their mean, if they differ.
struct MedianRanks {
  std::size_t lower = 0, upper = 0;
  std::size_t draws = 0; // how many resamples have this median
};

// Draws medians of resamples without resampling. A resample of n draws n uniform positions among
// the order statistics. The j-th smallest of n uniform numbers follows beta(j, n - j + 1).
class MedianResampler {
public:
  explicit MedianResampler(std::size_t samples) : samples_(samples) {
    const auto count = static_cast<double>(samples);
    const double below = std::floor((count + 1) / 2); // the lower of the two middle ranks
    for (std::size_t rank = 1; rank <= samples; ++rank) {
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

  std::pair<std::size_t, std::size_t> operator()(std::mt19937_64& random) const {
    const double chance = uniform(random);
    const auto found = std::upper_bound(chances_.begin(), chances_.end() - 1, chance);
    const auto rank = first_ + static_cast<std::size_t>(found - chances_.begin());
    if (samples_ % 2 == 1) {
      return {rank, rank};
    }
    // The next larger uniform number, given this one.
    const double before = found == chances_.begin() ? 0 : *(found - 1);
    const auto count = static_cast<double>(samples_);
    const double position =
        (static_cast<double>(rank) + (chance - before) / (*found - before)) / count;
    const double next = 1 - (1 - position) * std::pow(uniform(random), above_);
    const auto next_rank = static_cast<std::size_t>(next * count);
    return {rank, std::clamp(next_rank, rank, samples_ - 1)};
  }

private:
  std::size_t samples_;
  std::vector<double> chances_; // P(rank of the lower median <= first_ + i)
  std::size_t first_ = 0;
  double above_ = 0;
};

std::vector<MedianRanks> draw_ranks(std::size_t samples, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const MedianResampler resampler(samples);
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> drawn;
  for (int i = 0; i < kDraws; ++i) {
    ++drawn[resampler(random)];
  }
  std::vector<MedianRanks> ranks;
  for (const auto& [pair, draws] : drawn) {
    ranks.push_back({pair.first, pair.second, draws});
  }
  return ranks;
}

// The drawn ranks depend on the number of samples and the seed, but not on the samples. A judge
// needs the same few numbers again and again.
std::shared_ptr<const std::vector<MedianRanks>> known_ranks(std::size_t samples,
                                                            std::uint64_t seed) {
  static std::mutex mutex;
  static std::map<std::pair<std::size_t, std::uint64_t>,
                  std::shared_ptr<const std::vector<MedianRanks>>>
      known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find({samples, seed}); found != known.end()) {
    return found->second;
  }
  if (known.size() >= kMostKnown) {
    known.clear();
  }
  return known[{samples, seed}] =
             std::make_shared<const std::vector<MedianRanks>>(draw_ranks(samples, seed));
}

struct WeightedMedian {
  double value = 0;
  std::size_t draws = 0;
};

// The quantile of all draws, with linear interpolation. `medians` ascend.
double quantile_of_draws(const std::vector<WeightedMedian>& medians, double share) {
  const double position = share * (kDraws - 1);
  auto rest = static_cast<std::size_t>(position);
  auto at = medians.begin();
  while (rest >= at->draws) {
    rest -= at->draws;
    ++at;
  }
  const bool is_last_of_value = rest + 1 == at->draws && at + 1 != medians.end();
  const double above = is_last_of_value ? (at + 1)->value : at->value;
  return std::lerp(at->value, above, position - std::floor(position));
}

template <typename Draw> Interval percentiles(const Draw& draw, double confidence) {
  std::vector<double> draws(kDraws);
  std::generate(draws.begin(), draws.end(), draw);
  const double tail = tail_of(confidence);
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
  std::sort(kept.begin(), kept.end());
  std::vector<WeightedMedian> medians;
  for (const MedianRanks& ranks : *known_ranks(kept.size(), seed)) {
    const double lower = kept[ranks.lower], upper = kept[ranks.upper];
    medians.push_back({kept.size() % 2 == 1 ? lower : (lower + upper) / 2, ranks.draws});
  }
  std::sort(medians.begin(), medians.end(),
            [](const auto& a, const auto& b) { return a.value < b.value; });
  const double tail = tail_of(confidence);
  return Interval{quantile_of_draws(medians, tail), quantile_of_draws(medians, 1 - tail)};
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
