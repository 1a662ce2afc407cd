#include "profiling/statistics/sitting.h"

#include "profiling/statistics/distributions.h"
#include "profiling/statistics/order.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

namespace winnow::profiling {
namespace {

constexpr int kPolishes = 3;
constexpr double kRaceTail = 0.005;   // on each side of the interval of a race
constexpr double kRepeatTail = 0.025; // on each side of the interval of a speedup
constexpr double kNormalRepeat = 1.959963984540054;
constexpr std::size_t kMostRounds = 10; // the number of halves to evaluate grows fast with this
constexpr double kLeastError = 0.0003;  // clocks are no more accurate

std::vector<std::vector<double>> logs_of(const std::vector<std::vector<double>>& times_ns) {
  std::vector<std::vector<double>> logs;
  for (const std::vector<double>& times : times_ns) {
    std::vector<double>& of_kernel = logs.emplace_back();
    for (const double time : times) {
      of_kernel.push_back(std::log(time));
    }
  }
  return logs;
}

/// The median of values[i] - parts[i] over the indices where both are finite; `otherwise` if there
/// are none.
double median_beyond(const std::vector<double>& values, const std::vector<double>& parts,
                     double otherwise) {
  std::vector<double> beyond;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && std::isfinite(parts[i])) {
      beyond.push_back(values[i] - parts[i]);
    }
  }
  return beyond.empty() ? otherwise : median_of(beyond);
}

} // namespace

std::vector<double> log_levels(const std::vector<std::vector<double>>& times_ns) {
  const std::vector<std::vector<double>> logs = logs_of(times_ns);
  std::size_t turns = 0;
  for (const std::vector<double>& of_kernel : logs) {
    turns = std::max(turns, of_kernel.size());
  }
  std::vector<double> levels(logs.size(), 0), common(turns, 0);
  for (int polish = 0; polish < kPolishes; ++polish) {
    for (std::size_t kernel = 0; kernel < logs.size(); ++kernel) {
      levels[kernel] =
          median_beyond(logs[kernel], common, std::numeric_limits<double>::quiet_NaN());
    }
    for (std::size_t turn = 0; turn < turns; ++turn) {
      std::vector<double> of_turn;
      for (const std::vector<double>& of_kernel : logs) {
        of_turn.push_back(turn < of_kernel.size() ? of_kernel[turn] : std::log(0));
      }
      common[turn] = median_beyond(of_turn, levels, 0);
    }
  }
  return levels;
}

double repeat_factor(double spread) {
  return std::exp(kNormalRepeat * std::sqrt(2) * spread);
}

namespace {

/// A set of rounds: one bit per round.
using Rounds = std::uint32_t;

/// The times of the wanted rounds, one round after the other. A missing turn of a kernel becomes
/// NaN.
RoundTimes together(const std::vector<RoundTimes>& rounds, Rounds wanted) {
  RoundTimes all(rounds.empty() ? 0 : rounds.front().size());
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    if ((wanted >> round & 1U) == 0) {
      continue;
    }
    std::size_t turns = 0;
    for (const std::vector<double>& times : rounds[round]) {
      turns = std::max(turns, times.size());
    }
    for (std::size_t kernel = 0; kernel < all.size(); ++kernel) {
      const std::vector<double>& times = rounds[round].at(kernel);
      all[kernel].insert(all[kernel].end(), times.begin(), times.end());
      all[kernel].insert(all[kernel].end(), turns - times.size(),
                         std::numeric_limits<double>::quiet_NaN());
    }
  }
  return all;
}

std::vector<double> mean_levels(const std::vector<std::vector<RoundTimes>>& shapes, Rounds wanted) {
  std::vector<double> means;
  for (const std::vector<RoundTimes>& rounds : shapes) {
    const std::vector<double> levels = log_levels(together(rounds, wanted));
    means.resize(levels.size(), 0);
    for (std::size_t kernel = 0; kernel < levels.size(); ++kernel) {
      means[kernel] += levels[kernel] / static_cast<double>(shapes.size());
    }
  }
  return means;
}

} // namespace

Sitting::Sitting(const std::vector<std::vector<RoundTimes>>& shapes)
    : rounds_(shapes.empty() ? 0 : std::min(kMostRounds, shapes.front().size())) {
  const Rounds all = (Rounds{1} << rounds_) - 1;
  levels_ = mean_levels(shapes, all);
  for (Rounds some = 1; some < all; ++some) {
    if (static_cast<std::size_t>(std::popcount(some)) == rounds_ / 2) {
      halves_.push_back(mean_levels(shapes, some));
    }
  }
}

double Sitting::log_ratio(std::size_t one, std::size_t other) const {
  return levels_.at(other) - levels_.at(one);
}

double Sitting::standard_error(std::size_t one, std::size_t other) const {
  const double whole = log_ratio(one, other);
  double squares = 0;
  for (const std::vector<double>& levels : halves_) {
    squares += std::pow(levels.at(other) - levels.at(one) - whole, 2);
  }
  const auto kept = static_cast<double>(rounds_ / 2); // NOLINT(bugprone-integer-division): whole
  const double left_out = static_cast<double>(rounds_) - kept;
  return std::max(std::sqrt(kept / left_out * squares / static_cast<double>(halves_.size())),
                  kLeastError);
}

double Sitting::quantile(double upper_tail) const {
  return student_quantile(upper_tail, static_cast<double>(rounds()) - 1);
}

double Sitting::ratio(std::size_t one, std::size_t other) const {
  return std::exp(log_ratio(one, other));
}

Interval Sitting::interval(std::size_t one, std::size_t other) const {
  if (rounds() < 2) {
    return {0, std::numeric_limits<double>::infinity()};
  }
  const double mean = log_ratio(one, other);
  const double reach = quantile(kRaceTail) * standard_error(one, other);
  return {std::exp(mean - reach), std::exp(mean + reach)};
}

// The other sitting has errors of its own. The difference of two sittings has twice the variance.
Interval Sitting::repeat_interval(std::size_t one, std::size_t other, double spread) const {
  if (rounds() < 2) {
    return {0, std::numeric_limits<double>::infinity()};
  }
  const double mean = log_ratio(one, other);
  const double reach = std::hypot(quantile(kRepeatTail) * std::sqrt(2) * standard_error(one, other),
                                  std::log(repeat_factor(spread)));
  return {std::exp(mean - reach), std::exp(mean + reach)};
}

RaceVerdict Sitting::verdict(std::size_t one, std::size_t other) const {
  return race_verdict(interval(one, other), kTieMargin, false);
}

std::vector<std::size_t> Sitting::order() const {
  std::vector<std::size_t> kernels(levels_.size());
  std::iota(kernels.begin(), kernels.end(), std::size_t{0});
  std::stable_sort(kernels.begin(), kernels.end(),
                   [&](std::size_t a, std::size_t b) { return levels_[a] < levels_[b]; });
  return kernels;
}

std::vector<int> Sitting::ranks(const std::vector<std::size_t>& order) const {
  std::vector<int> ranks;
  std::size_t first = 0; // position of the first kernel with the current rank
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t above = first; above < i; ++above) {
      if (verdict(order[i], order[above]) == RaceVerdict::Slower) {
        first = i;
        break;
      }
    }
    ranks.push_back(static_cast<int>(first) + 1);
  }
  return ranks;
}

} // namespace winnow::profiling
