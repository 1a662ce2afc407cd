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
  /// A request is given up if the endpoint asks for a longer wait.
  std::chrono::milliseconds longest_wait{600'000};
};

/// What is known about a failed attempt. The same for all wire formats.
struct FailedAttempt {
  int attempt = 1;        ///< counts from 1
  bool transport = false; ///< no complete answer came
  long status = 0;        ///< HTTP status, or the error code inside the body of an HTTP 200
  bool out_of_money = false;
  /// The endpoint limits its callers or is down. Then max_attempts does not apply.
  bool waits = false;
  std::optional<bool> should_retry; ///< the endpoint says so itself; nullopt: it says nothing
  std::optional<std::chrono::milliseconds> asked_for; ///< the delay that the endpoint asks for
};

/// The delay before the next attempt; nullopt: give up. Retried are transport failures, 5xx, 408,
/// 409, and 429 unless the account has no money left. `random` is in [0, 1).
std::optional<std::chrono::milliseconds> retry_delay(const RetryPolicy& policy,
                                                     const FailedAttempt& failed, double random);

/// The delay that the headers ask for: retry-after-ms, else retry-after in seconds or as an HTTP
/// date. nullopt if the header is absent or malformed. A date is compared with the answer's Date
/// header if there is one, because the clock of this machine may be wrong; otherwise with `now`.
std::optional<std::chrono::milliseconds>
requested_delay(const std::map<std::string, std::string>& headers, std::time_t now);

} // namespace winnow::agents
