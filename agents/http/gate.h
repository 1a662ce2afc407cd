#pragma once

#include "agents/model_endpoint.h"

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
  int failures_to_open = 5; ///< so many in a row, and the endpoint is taken to be down
  std::chrono::milliseconds first_rest{5'000}; ///< before a down endpoint is tried again; doubles
  std::chrono::milliseconds longest_rest{60'000};
  std::chrono::milliseconds outage{1'800'000}; ///< a longer one is no longer waited for
};

/// Decides when an endpoint's next request may be sent: limits on requests in flight and a minute,
/// pauses that the endpoint asks for (429; each halves the requests in flight, successes raise them
/// again), and a circuit breaker (after failures in a row only one request at a time, at growing
/// intervals, until one succeeds). health() may be called from any thread, the rest from one.
class Gate {
public:
  using Time = std::chrono::steady_clock::time_point;
  explicit Gate(const GateLimits& limits);

  /// When a request that will use about so many tokens may be sent; not later than `now`: at once.
  /// nullopt: when another one has ended.
  std::optional<Time> opens(Time now, std::int64_t tokens) const;
  void sent(Time now, std::int64_t tokens);

  enum class End : std::uint8_t {
    Answered, ///< as it should, or with a refusal of this one request
    Limited,  ///< too many requests: pause
    Failed,   ///< no answer, or one that says the endpoint is in trouble
    Cancelled,
  };
  /// A request ended. `pause`: how long the endpoint asks to be left alone.
  void ended(Time now, End end, std::chrono::milliseconds pause, const std::string& why);
  /// Corrects what sent() took to what the request really used.
  void used(std::int64_t estimated_tokens, std::int64_t tokens);

  bool down() const;
  /// Down for longer than GateLimits::outage.
  bool given_up(Time now) const;
  EndpointHealth health(Time now) const;

private:
  enum class Breaker : std::uint8_t { Closed, Open, Trying };
  /// So many a minute, at most a tenth of that at once.
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
  mutable std::mutex mutex_; ///< guards all below
  Bucket requests_, tokens_;
  int in_flight_ = 0;
  double allowed_; ///< in flight at present, up to limits_.parallel
  Time paused_until_{};
  Time halved_at_{};
  Breaker breaker_ = Breaker::Closed;
  int failures_in_a_row_ = 0;
  std::chrono::milliseconds rest_;
  Time next_try_{};
  Time down_since_{};
  std::string why_; ///< of the last failure or pause
};

} // namespace winnow::agents
