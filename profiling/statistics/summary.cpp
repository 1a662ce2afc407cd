#include "profiling/statistics/summary.h"

#include "profiling/statistics/distributions.h"
#include "profiling/statistics/order.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace winnow::profiling {
namespace {

constexpr double kWhisker = 1.5;
constexpr std::size_t kMinForModes = 24;
constexpr double kMinShareOfMode = 0.1;
constexpr double kMinModesApart = 0.01;
constexpr double kMinSpreadsApart = 4;
constexpr double kMinOfMode = 3; // two samples may be close by chance
constexpr std::size_t kMinForDrift = 5;
constexpr std::size_t kMaxForDrift = 256; // the number of slopes grows with the square of this
constexpr double kSignificant = 0.01;

// Sums of values relative to the first value, so that the squares keep their precision.
struct Group {
  double count = 0, sum = 0, squares = 0;

  void add(double value) {
    ++count;
    sum += value;
    squares += value * value;
  }
  Group without(const Group& part) const {
    return {count - part.count, sum - part.sum, squares - part.squares};
  }
  double mean() const { return sum / count; }
  double scatter() const { return std::max(0.0, squares - sum * sum / count); }
};

bool far_apart(const Group& low, const Group& high, double origin) {
  const double apart = high.mean() - low.mean();
  const double within = std::sqrt((low.scatter() + high.scatter()) / (low.count + high.count - 2));
  return apart >= kMinModesApart * (origin + low.mean()) && apart > kMinSpreadsApart * within;
}

// The medians of at most kMaxForDrift runs of successive samples. All runs but the last have the
// same length.
std::vector<double> thinned(std::vector<double> samples) {
  if (samples.size() <= kMaxForDrift) {
    return samples;
  }
  const std::size_t length = (samples.size() + kMaxForDrift - 1) / kMaxForDrift;
  std::vector<double> medians;
  for (std::size_t first = 0; first < samples.size(); first += length) {
    const std::size_t end = std::min(samples.size(), first + length);
    std::vector<double> run(samples.begin() + static_cast<std::ptrdiff_t>(first),
                            samples.begin() + static_cast<std::ptrdiff_t>(end));
    medians.push_back(median_of(run));
  }
  return medians;
}

double mann_kendall_p(double score, std::vector<double> samples) {
  const auto terms = [](double n) { return n * (n - 1) * (2 * n + 5); };
  std::sort(samples.begin(), samples.end());
  double variance = terms(static_cast<double>(samples.size()));
  for (auto first = samples.begin(); first != samples.end();) {
    const auto end = std::upper_bound(first, samples.end(), *first);
    variance -= terms(static_cast<double>(end - first));
    first = end;
  }
  variance /= 18;
  const double surplus = std::max(0.0, std::abs(score) - 1); // continuity correction
  return variance > 0 ? std::min(1.0, 2 * normal_upper_tail(surplus / std::sqrt(variance))) : 1;
}

} // namespace

std::optional<Summary> summarize(std::span<const double> samples) {
  std::vector<double> sorted = finite(samples);
  if (sorted.empty()) {
    return std::nullopt;
  }
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  Summary summary;
  summary.count = sorted.size();
  summary.minimum = sorted.front();
  summary.maximum = sorted.back();
  summary.median = quantile_of_sorted(sorted, 0.5);
  summary.first_quartile = quantile_of_sorted(sorted, 0.25);
  summary.third_quartile = quantile_of_sorted(sorted, 0.75);
  summary.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
  return summary;
}

bool is_bimodal(std::span<const double> samples) {
  std::vector<double> sorted = positive(samples);
  if (sorted.size() < kMinForModes) {
    return false;
  }
  std::sort(sorted.begin(), sorted.end());
  const double origin = sorted.front();
  Group all;
  for (const double sample : sorted) {
    all.add(sample - origin);
  }
  const double least = std::max(kMinOfMode, kMinShareOfMode * all.count);
  Group low, best_low;
  double best_scatter = all.scatter();
  for (const double sample : sorted) {
    low.add(sample - origin);
    const Group high = all.without(low);
    if (low.count < least || high.count < least) {
      continue;
    }
    if (const double scatter = low.scatter() + high.scatter(); scatter < best_scatter) {
      best_scatter = scatter;
      best_low = low;
    }
  }
  return best_low.count > 0 && far_apart(best_low, all.without(best_low), origin);
}

std::optional<Drift> drift(std::span<const double> samples) {
  std::vector<double> taken = thinned(positive(samples));
  if (taken.size() < kMinForDrift) {
    return std::nullopt;
  }
  std::vector<double> slopes;
  slopes.reserve(taken.size() * (taken.size() - 1) / 2);
  double score = 0;
  for (std::size_t late = 1; late < taken.size(); ++late) {
    for (std::size_t early = 0; early < late; ++early) {
      const double change = taken[late] - taken[early];
      score += (change > 0 ? 1 : 0) - (change < 0 ? 1 : 0);
      slopes.push_back(change / static_cast<double>(late - early));
    }
  }
  Drift result;
  result.p_value = mann_kendall_p(score, taken);
  result.significant = result.p_value < kSignificant;
  const auto steps = static_cast<double>(taken.size() - 1);
  result.relative_change = median_of(slopes) * steps / median_of(taken);
  return result;
}

std::size_t outliers(std::span<const double> samples) {
  const std::optional<Summary> summary = summarize(samples);
  if (!summary) {
    return 0;
  }
  const double limit =
      summary->third_quartile + kWhisker * (summary->third_quartile - summary->first_quartile);
  return static_cast<std::size_t>(std::count_if(samples.begin(), samples.end(), [&](double sample) {
    return std::isfinite(sample) && sample > limit;
  }));
}

} // namespace winnow::profiling
