#include "profiling/statistics/stop_rule.h"

#include <algorithm>
#include <cmath>

namespace winnow::profiling {

std::string_view to_string(StopReason reason) {
  switch (reason) {
  case StopReason::Converged:
    return "converged";
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
  return spent_ns < limits_.budget_ns ? std::nullopt : std::optional(StopReason::Budget);
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
  }
}

bool StopRule::converged() const {
  if (count_ < 2) {
    return count_ == 1 && limits_.min_samples <= 1; // the caller asked for one sample
  }
  return std::sqrt(squares_ / (count_ - 1) / count_) <= limits_.relative_error * std::abs(mean_);
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
