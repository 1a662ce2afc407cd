#include "profiling/statistics/stop_rule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace winnow::profiling {
namespace {

constexpr std::size_t kEntropyWindow = 299;
constexpr std::size_t kMinEntropies = 10; // two points always lie on a line
constexpr double kMaxAngleDegrees = 0.048;
constexpr double kMinExplained = 0.36;
constexpr double kMaxStep = 1e15; // fits into a long long

double times_its_log(double frequency) {
  return frequency > 0 ? frequency * std::log2(frequency) : 0;
}

} // namespace

std::string_view to_string(StopReason reason) {
  switch (reason) {
  case StopReason::Converged:
    return "converged";
  case StopReason::Entropy:
    return "entropy";
  case StopReason::MaxSamples:
    return "max_samples";
  case StopReason::Budget:
    return "budget";
  }
  return "budget";
}

bool StopRule::more(std::span<const double> samples, double spent_ns) {
  if (samples.size() < seen_) {
    *this = StopRule(limits_);
  }
  follow(samples);
  reason_ = reason_to_stop(samples, spent_ns);
  return !reason_;
}

std::optional<StopReason> StopRule::reason_to_stop(std::span<const double> samples,
                                                   double spent_ns) const {
  const auto taken = static_cast<long long>(samples.size());
  if (taken == 0) {
    return std::nullopt;
  }
  if (taken >= limits_.max_samples) {
    return StopReason::MaxSamples;
  }
  if (taken < limits_.min_samples) {
    return spent_ns < limits_.overdraft * limits_.budget_ns ? std::nullopt
                                                            : std::optional(StopReason::Budget);
  }
  if (converged()) {
    return StopReason::Converged;
  }
  if (!(spent_ns < limits_.budget_ns)) {
    return StopReason::Budget;
  }
  return entropy_settled() ? std::optional(StopReason::Entropy) : std::nullopt;
}

void StopRule::follow(std::span<const double> samples) {
  for (; seen_ < samples.size(); ++seen_) {
    const double sample = samples[seen_];
    if (!std::isfinite(sample)) {
      continue;
    }
    ++count_;
    const double deviation = sample - mean_;
    mean_ += deviation / count_;
    squares_ += deviation * (sample - mean_);
    const double step =
        sample > 0 && limits_.relative_error > 0 ? std::log(sample) / limits_.relative_error : 0;
    double& frequency = frequencies_[static_cast<long long>(std::clamp(step, -kMaxStep, kMaxStep))];
    sum_of_logs_ += times_its_log(frequency + 1) - times_its_log(frequency);
    ++frequency;
    entropies_.push_back(std::log2(count_) - sum_of_logs_ / count_);
    if (entropies_.size() > kEntropyWindow) {
      entropies_.pop_front();
    }
  }
}

bool StopRule::converged() const {
  if (count_ < 2) {
    return count_ == 1 && limits_.min_samples <= 1; // the caller asked for one sample
  }
  return std::sqrt(squares_ / (count_ - 1) / count_) <= limits_.relative_error * std::abs(mean_);
}

bool StopRule::entropy_settled() const {
  if (entropies_.size() < kMinEntropies) {
    return false;
  }
  const auto count = static_cast<double>(entropies_.size());
  double sum = 0;
  for (const double entropy : entropies_) {
    sum += entropy;
  }
  const double middle = (count - 1) / 2, mean = sum / count;
  double across = 0, along = 0, total = 0, position = -middle;
  for (const double entropy : entropies_) {
    across += position * (entropy - mean);
    along += position * position;
    total += (entropy - mean) * (entropy - mean);
    ++position;
  }
  const double angle = std::atan2(across, along) * 180 / std::numbers::pi;
  return angle <= kMaxAngleDegrees && across * across >= kMinExplained * along * total;
}

bool WarmUp::warm(double ns) {
  ++launches_;
  if (std::isfinite(ns) && ns > 0) {
    times_ns_.push_back(ns);
    spent_ns_ += ns;
  }
  settled_ = has_settled();
  over_ = over_ || settled_ || launches_ >= limits_.max_launches || spent_ns_ >= limits_.max_ns;
  return over_;
}

bool WarmUp::has_settled() const {
  const auto needed = static_cast<std::size_t>(std::max(1, limits_.launches));
  if (times_ns_.size() < needed) {
    return false;
  }
  const auto last = times_ns_.end() - static_cast<std::ptrdiff_t>(needed);
  const auto [fastest, slowest] = std::minmax_element(last, times_ns_.end());
  if (*slowest <= *fastest * (1 + limits_.tolerance)) {
    return true;
  }
  return last != times_ns_.begin() && *fastest >= *std::min_element(times_ns_.begin(), last);
}

} // namespace winnow::profiling
