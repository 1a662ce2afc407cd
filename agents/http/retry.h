#pragma once

#include <chrono>
#include <ctime>
#include <map>
#include <optional>
#include <string>

namespace winnow::agents {

struct RetryPolicy {
  int max_attempts = 4;
  std::chrono::milliseconds base{500}; ///< doubles with every attempt
  std::chrono::milliseconds cap{30'000};
  std::chrono::milliseconds longest_wait{600'000}; ///< an endpoint that asks for more is given up
};

/// What is known about a failed attempt, whatever the wire format.
struct FailedAttempt {
  int attempt = 1;        ///< counts from 1
  bool transport = false; ///< no complete answer came
  long status = 0;        ///< HTTP, or the code inside an HTTP 200
  bool out_of_money = false;
  /// The endpoint limits its callers or is down: waiting is right, however many attempts it takes.
  bool waits = false;
  std::optional<bool> should_retry;                   ///< the endpoint's own word
  std::optional<std::chrono::milliseconds> asked_for; ///< the endpoint's own delay
};

/// The delay before the next attempt, or nullopt to give up. Retried: transport failures, 408, 409,
/// 429 unless the money has run out, 5xx. `random` is in [0, 1).
std::optional<std::chrono::milliseconds> retry_delay(const RetryPolicy& policy,
                                                     const FailedAttempt& failed, double random);

/// retry-after-ms, else retry-after in seconds or as an HTTP date; nullopt when absent or
/// malformed. A date counts from the answer's own Date, if it has one: this machine's clock may be
/// wrong.
std::optional<std::chrono::milliseconds>
requested_delay(const std::map<std::string, std::string>& headers, std::time_t now);

} // namespace winnow::agents
