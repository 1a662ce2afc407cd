#include "profiling/statistics/race.h"

#include "profiling/statistics/distributions.h"
#include "profiling/statistics/order.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace winnow::profiling {
namespace {

constexpr std::size_t kBlocksToClip = 5;
// In normal-consistent median absolute deviations. Blocks are clipped only if they are outliers.
// Launches are clipped at the value that makes the mean most certain for both normal times and
// times with a tail (Huber 1964).
constexpr double kClipBlocksAt = 4;
constexpr double kClipLaunchesAt = 1.5;
constexpr std::size_t kLevelBlocks = 9;      // blocks whose median follows the device's clock
constexpr double kTicks = 3;                 // of a timer: a smaller deviation is no outlier
constexpr double kNormalConsistent = 1.4826; // standard deviation / median absolute deviation
constexpr double kMixturePrecision = 0.1;
constexpr double kSame =
    1e-9; // times that differ by less, relatively, differ by rounding of doubles

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Interval kEverything{-kInfinity, kInfinity};

using FourLaunches = std::array<double, 4>; // the challenger's two, then the other's two

// The limits beyond which a value is clipped. No value is clipped if more than half of them are
// equal.
Interval limits_of(const std::vector<double>& values, double deviations, double least_reach) {
  std::vector<double> copy = values;
  const double center = median_of(copy);
  for (double& value : copy) {
    value = std::abs(value - center);
  }
  const double reach = std::max(deviations * kNormalConsistent * median_of(copy), least_reach);
  return reach > 0 ? Interval{center - reach, center + reach} : kEverything;
}

// Per block, the median of the middles of the surrounding blocks. A block's middle is the mean of
// its two middle times. The level follows changes of the clock.
std::vector<double> levels_of(const std::vector<FourLaunches>& times) {
  std::vector<double> middles, levels;
  for (FourLaunches of_block : times) {
    std::sort(of_block.begin(), of_block.end());
    middles.push_back((of_block[1] + of_block[2]) / 2);
  }
  const std::size_t width = std::min(kLevelBlocks, times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::size_t first = std::min(i - std::min(i, width / 2), times.size() - width);
    const auto from = middles.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<double> around(from, from + static_cast<std::ptrdiff_t>(width));
    levels.push_back(median_of(around));
  }
  return levels;
}

} // namespace

Race::Race(const RaceRules& rules, std::size_t shapes)
    : rules_(rules), shapes_(std::max<std::size_t>(1, shapes)) {}

void Race::add(const TwoLaunches& challenger_ns, const TwoLaunches& other_ns, std::size_t shape) {
  const auto is_time = [](double ns) { return ns > 0 && std::isfinite(ns); };
  Block block;
  block.log_ratio = std::log(other_ns[0] / challenger_ns[0] * (other_ns[1] / challenger_ns[1])) / 2;
  if (shape >= shapes_.size() || !std::isfinite(block.log_ratio) ||
      !std::all_of(challenger_ns.begin(), challenger_ns.end(), is_time) ||
      !std::all_of(other_ns.begin(), other_ns.end(), is_time)) {
    return;
  }
  Shape& to = shapes_[shape];
  for (std::size_t i = 0; i < challenger_ns.size(); ++i) {
    block.challenger.at(i) = std::log(challenger_ns.at(i));
    block.other.at(i) = std::log(other_ns.at(i));
    to.add_time(to.challenger, block.challenger.at(i));
    to.add_time(to.other, block.other.at(i));
  }
  to.blocks.push_back(block);
}

void Race::Shape::add_time(std::vector<double>& times, double time) {
  const auto next = std::lower_bound(times.begin(), times.end(), time);
  const auto compare = [&](double neighbour) {
    const double difference = std::abs(time - neighbour);
    if (difference > kSame && (step == 0 || difference < step)) {
      step = difference;
    }
  };
  if (next != times.end()) {
    compare(*next);
  }
  if (next != times.begin()) {
    compare(*std::prev(next));
  }
  times.insert(next, time);
}

// One step of Huber's estimate from the median ratio, block by block. Clipping shrinks a difference
// by the share of clipped launches. Dividing by the share of unclipped launches undoes this.
std::vector<double> Race::Shape::log_ratios() const {
  std::vector<double> ratios;
  for (const Block& block : blocks) {
    ratios.push_back(block.log_ratio);
  }
  if (blocks.size() < kBlocksToClip) {
    return ratios;
  }
  std::vector<double> copy = ratios;
  const double start = median_of(copy);
  std::vector<FourLaunches> times; // shifted as if both kernels took the same time
  for (const Block& block : blocks) {
    times.push_back({block.challenger[0] + start / 2, block.challenger[1] + start / 2,
                     block.other[0] - start / 2, block.other[1] - start / 2});
  }
  const std::vector<double> levels = levels_of(times);
  std::vector<double> residuals;
  for (std::size_t i = 0; i < times.size(); ++i) {
    for (const double time : times[i]) {
      residuals.push_back(time - levels[i]);
    }
  }
  const Interval limits = limits_of(residuals, kClipLaunchesAt, kTicks * step);
  double left_alone = 0;
  for (double& residual : residuals) {
    left_alone += residual >= limits.low && residual <= limits.high ? 1 : 0;
    residual = std::clamp(residual, limits.low, limits.high);
  }
  const double share = left_alone / static_cast<double>(residuals.size());
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    const double* of_block = &residuals[4 * i];
    const double difference = (of_block[2] + of_block[3] - of_block[0] - of_block[1]) / 2;
    ratios[i] = start + difference / share;
  }
  return ratios;
}

Race::Estimate Race::of_shape(const Shape& shape) const {
  const std::vector<double> values = shape.log_ratios();
  const auto count = static_cast<double>(values.size());
  if (values.empty()) {
    return {};
  }
  const Interval limits =
      values.size() < kBlocksToClip ? kEverything : limits_of(values, kClipBlocksAt, 0);
  double sum = 0, left_alone = 0;
  for (const double value : values) {
    sum += std::clamp(value, limits.low, limits.high);
    left_alone += value >= limits.low && value <= limits.high ? 1 : 0;
  }
  Estimate estimate;
  estimate.mean = sum / count;
  estimate.degrees = left_alone - 1;
  estimate.blocks = left_alone * left_alone / count;
  if (values.size() < 2) {
    return estimate;
  }
  double squares = 0;
  for (const double value : values) {
    const double deviation = std::clamp(value, limits.low, limits.high) - estimate.mean;
    squares += deviation * deviation;
  }
  // The variance that rounding four times to ticks adds to the difference between two means of two.
  const double floor =
      std::max(rules_.noise_floor * rules_.noise_floor, shape.step * shape.step / 12);
  estimate.variance = std::max(squares / (count - 1), floor) / estimate.blocks;
  return estimate;
}

Race::Estimate Race::combined() const {
  if (shapes_.size() == 1) {
    return of_shape(shapes_.front());
  }
  const auto shapes = static_cast<double>(shapes_.size());
  Estimate all;
  double squares = 0, inverse_blocks = 0;
  for (const Shape& shape : shapes_) {
    const Estimate one = of_shape(shape);
    if (one.degrees <= 0) {
      return {};
    }
    all.mean += one.mean / shapes;
    const double share = one.variance / (shapes * shapes);
    all.variance += share;
    squares += share * share / one.degrees;
    inverse_blocks += 1 / one.blocks;
  }
  all.degrees = squares > 0 ? all.variance * all.variance / squares : 0; // Welch-Satterthwaite
  all.blocks = shapes * shapes / inverse_blocks;
  return all;
}

// The mixture's likelihood ratio is sqrt(r) ((1 + u) / (1 + r u))^((degrees + 1) / 2), with u = t^2
// / degrees and r = precision / (blocks + precision). The interval contains the effects with a
// likelihood ratio below 1 / error.
double Race::half_width(const Estimate& estimate, double two_sided_error) {
  if (!(estimate.degrees > 0)) {
    return std::numeric_limits<double>::infinity();
  }
  const double shrink = kMixturePrecision / (estimate.blocks + kMixturePrecision);
  const double threshold =
      std::pow(two_sided_error * std::sqrt(shrink), -2 / (estimate.degrees + 1));
  if (shrink * threshold >= 1) {
    return std::numeric_limits<double>::infinity();
  }
  const double u = (threshold - 1) / (1 - shrink * threshold);
  return std::sqrt(std::max(0.0, u) * estimate.degrees * estimate.variance);
}

Interval Race::around(const Estimate& estimate, double two_sided_error) {
  const double reach = half_width(estimate, two_sided_error);
  return {std::exp(estimate.mean - reach), std::exp(estimate.mean + reach)};
}

double Race::chance_of_faster(const Estimate& now) const {
  const double final_blocks = static_cast<double>(shapes_.size()) * std::max(1, rules_.max_blocks);
  if (now.blocks >= final_blocks) {
    return 0;
  }
  Estimate last = now;
  last.blocks = final_blocks;
  last.degrees = final_blocks - static_cast<double>(shapes_.size());
  last.variance = now.variance * now.blocks / final_blocks;
  const double needed = half_width(last, 2 * rules_.error_rate) - now.mean;
  return student_upper_tail(needed / std::sqrt(now.variance - last.variance), now.degrees);
}

bool Race::enough_blocks(int wanted) const {
  return std::all_of(shapes_.begin(), shapes_.end(), [&](const Shape& shape) {
    return static_cast<std::int64_t>(shape.blocks.size()) >= wanted;
  });
}

bool Race::is_given_up(const Estimate& now) const {
  const Interval loose = around(now, 2 * rules_.hopeless);
  const bool is_close = race_verdict(loose, rules_.tie_margin, false) == RaceVerdict::Tie;
  return enough_blocks(rules_.max_blocks) ||
         (std::isfinite(interval_of(now).high) &&
          (is_close || chance_of_faster(now) < rules_.hopeless));
}

RaceVerdict Race::verdict() const {
  const Estimate now = combined();
  return race_verdict(interval_of(now), rules_.tie_margin, is_given_up(now));
}

std::optional<double> Race::ratio() const {
  if (!enough_blocks(1)) {
    return std::nullopt;
  }
  double mean = 0;
  for (const Shape& shape : shapes_) {
    mean += of_shape(shape).mean / static_cast<double>(shapes_.size());
  }
  return std::exp(mean);
}

Interval Race::interval_of(const Estimate& all) const {
  return around(enough_blocks(std::max(2, rules_.min_blocks)) ? all : Estimate{},
                2 * rules_.error_rate);
}

Interval Race::interval() const {
  return interval_of(combined());
}

std::size_t Race::blocks() const {
  std::size_t count = 0;
  for (const Shape& shape : shapes_) {
    count += shape.blocks.size();
  }
  return count;
}

std::optional<double> Race::ratio(std::size_t shape) const {
  return shape < shapes_.size() && !shapes_[shape].blocks.empty()
             ? std::optional(std::exp(of_shape(shapes_[shape]).mean))
             : std::nullopt;
}

} // namespace winnow::profiling
