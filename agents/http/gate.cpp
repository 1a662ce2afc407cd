#include "agents/http/gate.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

using std::chrono::milliseconds;
using Seconds = std::chrono::duration<double>;

constexpr double kBurstMinutes = 0.1;
// Requests that were sent together are refused together. Refusals within this time count as one.
constexpr milliseconds kBetweenHalvings{1000};
constexpr int kFailuresToMention = 2;

Gate::Time later(Gate::Time time, double seconds) {
  constexpr double kLongest = 86'400;
  return time +
         std::chrono::ceil<Gate::Time::duration>(Seconds(std::clamp(seconds, 0.0, kLongest)));
}

std::string seconds_text(Gate::Time now, Gate::Time then) {
  return fmt::format("{} s", std::max<long>(0, std::lround(Seconds(then - now).count())));
}

} // namespace

Gate::Bucket::Bucket(std::int64_t per_minute)
    : per_second_(static_cast<double>(per_minute) / 60),
      capacity_(std::max(1.0, static_cast<double>(per_minute) * kBurstMinutes)), level_(capacity_) {
}

double Gate::Bucket::level(Time now) const {
  const double passed = at_ == Time{} ? 0 : std::max(0.0, Seconds(now - at_).count());
  return std::min(capacity_, level_ + passed * per_second_);
}

Gate::Time Gate::Bucket::opens(Time now, double amount) const {
  if (per_second_ <= 0) {
    return now;
  }
  // An amount above the capacity waits for a full bucket.
  const double missing = std::min(amount, capacity_) - level(now);
  return missing <= 0 ? now : later(now, missing / per_second_);
}

void Gate::Bucket::take(Time now, double amount) {
  level_ = level(now) - amount;
  at_ = now;
}

void Gate::Bucket::give_back(double amount) {
  level_ = std::min(capacity_, level_ + amount);
}

Gate::Gate(const GateLimits& limits)
    : limits_(limits), requests_(limits.requests_per_minute), tokens_(limits.tokens_per_minute),
      allowed_(std::max(limits.parallel, 1)), rest_(limits.first_rest) {}

std::optional<Gate::Time> Gate::opens(Time now, std::int64_t tokens) const {
  const std::lock_guard lock(mutex_);
  if (in_flight_ >= static_cast<int>(allowed_) || breaker_ == Breaker::Trying) {
    return std::nullopt;
  }
  Time time = std::max(
      {paused_until_, requests_.opens(now, 1), tokens_.opens(now, static_cast<double>(tokens))});
  return breaker_ == Breaker::Open ? std::max(time, next_try_) : time;
}

void Gate::sent(Time now, std::int64_t tokens) {
  const std::lock_guard lock(mutex_);
  ++in_flight_;
  requests_.take(now, 1);
  tokens_.take(now, static_cast<double>(tokens));
  if (breaker_ == Breaker::Open) {
    breaker_ = Breaker::Trying;
  }
}

void Gate::ended(Time now, End end, milliseconds pause, const std::string& why) {
  const std::lock_guard lock(mutex_);
  --in_flight_;
  if (end != End::Answered && end != End::Cancelled) {
    why_ = why;
  }
  switch (end) {
  case End::Answered:
    succeeded();
    break;
  case End::Limited:
    limited(now, pause);
    break;
  case End::Failed:
    paused_until_ = std::max(paused_until_, now + pause);
    failed(now);
    break;
  case End::Cancelled:
    breaker_ = breaker_ == Breaker::Trying ? Breaker::Open : breaker_;
    break;
  }
}

void Gate::succeeded() {
  failures_in_a_row_ = 0;
  breaker_ = Breaker::Closed;
  rest_ = limits_.first_rest;
  allowed_ = std::min<double>(std::max(limits_.parallel, 1), allowed_ + 1 / allowed_);
}

void Gate::limited(Time now, milliseconds pause) {
  breaker_ = Breaker::Closed; // a 429 shows that the endpoint is up
  failures_in_a_row_ = 0;
  paused_until_ = std::max(paused_until_, now + pause);
  if (halved_at_ == Time{} || now - halved_at_ >= kBetweenHalvings) {
    allowed_ = std::max(1.0, allowed_ / 2);
    halved_at_ = now;
  }
}

void Gate::failed(Time now) {
  ++failures_in_a_row_;
  if (breaker_ == Breaker::Trying) {
    rest_ = std::min(rest_ * 2, limits_.longest_rest);
  } else if (breaker_ == Breaker::Closed && failures_in_a_row_ >= limits_.failures_to_open) {
    down_since_ = now;
  } else {
    return;
  }
  breaker_ = Breaker::Open;
  next_try_ = now + rest_;
}

void Gate::used(std::int64_t estimated_tokens, std::int64_t tokens) {
  const std::lock_guard lock(mutex_);
  tokens_.give_back(static_cast<double>(estimated_tokens - tokens));
}

bool Gate::down() const {
  const std::lock_guard lock(mutex_);
  return breaker_ != Breaker::Closed;
}

bool Gate::given_up(Time now) const {
  const std::lock_guard lock(mutex_);
  return breaker_ != Breaker::Closed && now - down_since_ >= limits_.outage;
}

EndpointHealth Gate::health(Time now) const {
  const std::lock_guard lock(mutex_);
  using State = EndpointHealth::State;
  if (breaker_ != Breaker::Closed) {
    const std::string next = breaker_ == Breaker::Trying
                                 ? "trying again now"
                                 : "next try in " + seconds_text(now, next_try_);
    return {State::Down,
            fmt::format("{} failures in a row, the last: {}; {}", failures_in_a_row_, why_, next)};
  }
  if (paused_until_ > now) {
    return {State::Limited, fmt::format("waiting {}, as the endpoint asks: {}",
                                        seconds_text(now, paused_until_), why_)};
  }
  if (failures_in_a_row_ >= kFailuresToMention) {
    return {State::Degraded,
            fmt::format("{} failures in a row, the last: {}", failures_in_a_row_, why_)};
  }
  return {};
}

} // namespace winnow::agents
