#pragma once

#include "agents/model/model_endpoint.h"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace winnow::agents {

struct GateLimits {
  int parallel = 4;                     ///< requests in flight
  std::int64_t requests_per_minute = 0; ///< 0: no limit
  std::int64_t tokens_per_minute = 0;
  int failures_to_open = 5; ///< after this many failures in a row the endpoint counts as down
  /// The wait before the next try of an endpoint that is down; doubles with each try.
  std::chrono::milliseconds first_rest{5'000};
  std::chrono::milliseconds longest_rest{60'000};
  std::chrono::milliseconds outage{1'800'000}; ///< an endpoint that is down for longer is given up
};

/// Decides when the next request to an endpoint may be sent. It enforces three things:
/// - the limits on requests in flight, requests per minute and tokens per minute;
/// - pauses that the endpoint asks for (HTTP 429): each one halves the number of requests allowed
///   in flight, and each success raises that number again;
/// - a circuit breaker: after several failures in a row it sends one request at a time, at growing
///   intervals, until a request succeeds.
/// Any thread may call health(); one thread calls all other functions.
class Gate {
public:
  using Time = std::chrono::steady_clock::time_point;
  explicit Gate(const GateLimits& limits);

  /// The time at which a request of about `tokens` tokens may be sent. A time not later than `now`
  /// means at once; nullopt means after another request has ended.
  std::optional<Time> opens(Time now, std::int64_t tokens) const;
  void sent(Time now, std::int64_t tokens);

  enum class End : std::uint8_t {
    Answered, ///< a normal answer, or an error that concerns this request only
    Limited,  ///< too many requests: the gate pauses
    Failed,   ///< no answer, or an error that shows that the endpoint is in trouble
    Cancelled,
  };
  /// A request ended. `pause`: how long the endpoint asks callers to wait.
  void ended(Time now, End end, std::chrono::milliseconds pause, const std::string& why);
  /// Replaces the estimate that was given to sent() by the number of tokens really used.
  void used(std::int64_t estimated_tokens, std::int64_t tokens);

  bool down() const;
  /// Whether the endpoint has been down for longer than GateLimits::outage.
  bool given_up(Time now) const;
  EndpointHealth health(Time now) const;

private:
  enum class Breaker : std::uint8_t { Closed, Open, Trying };
  /// A rate limit (token bucket): `per_minute` in a minute, and at most a tenth of that at once.
  class Bucket {
  public:
    explicit Bucket(std::int64_t per_minute);
    Time opens(Time now, double amount) const;
    void take(Time now, double amount);
    void give_back(double amount);

  private:
    double level(Time now) const;
    double per_second_ = 0, capacity_ = 0, level_ = 0;
    Time at_{};
  };
  void succeeded();
  void failed(Time now);
  void limited(Time now, std::chrono::milliseconds pause);

  const GateLimits limits_;
  mutable std::mutex mutex_; ///< guards all members below
  Bucket requests_, tokens_;
  int in_flight_ = 0;
  double allowed_; ///< requests allowed in flight at present, at most limits_.parallel
  Time paused_until_{};
  Time halved_at_{};
  Breaker breaker_ = Breaker::Closed;
  int failures_in_a_row_ = 0;
  std::chrono::milliseconds rest_;
  Time next_try_{};
  Time down_since_{};
  std::string why_; ///< message of the last failure or pause
};

} // namespace winnow::agents
