#pragma once

#include "agents/endpoint_config.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace winnow::harness {

/// What a run may use up, resumed sessions included. 0: no limit of that kind.
struct Limits {
  std::int64_t calls = 0;
  std::int64_t tokens = 0; ///< prompt and completion together
  double dollars = 0;
  std::chrono::milliseconds wall_time{0};
};

/// What was used up.
struct Spend {
  std::int64_t calls = 0;
  std::int64_t tokens = 0;
  double dollars = 0;
  std::int64_t unpriced_calls = 0; ///< their dollars are unknown and not in the sum
};

/// What a call is expected to use, for reserving.
struct CallEstimate {
  std::int64_t tokens = 0;
  double dollars = 0;
};

/// Keeps the sum of what was spent and what calls in flight may still spend within the limits. A
/// reply can be longer than its estimate only when endpoint.max_output_tokens is not set. Not
/// thread-safe. Wall time is watched by the run loop.
class Budget {
public:
  Budget(const Limits& limits, const agents::EndpointConfig& endpoint);

  /// From the prompt's size and max_output_tokens or, without it, the longest reply so far.
  CallEstimate estimate(std::size_t prompt_bytes) const;
  /// Reserves for a call or, if that could exceed a limit, says which: "limits.calls = 5".
  std::optional<std::string> reserve(const std::string& key, const CallEstimate& estimate);
  /// The call ended unpaid: cancelled, or the recording has no such reply.
  void release(const std::string& key);
  /// The call ended and was paid; also for calls of earlier sessions, which were never reserved.
  void settle(const std::string& key, const agents::Usage& usage, std::optional<double> dollars);

  const Spend& spent() const { return spent_; }

private:
  Limits limits_;
  std::int64_t max_output_tokens_;
  std::optional<double> dollars_per_million_input_;
  std::optional<double> dollars_per_million_output_;
  Spend spent_;
  std::int64_t longest_completion_ = 0;
  std::map<std::string, CallEstimate> reserved_;
};

} // namespace winnow::harness
