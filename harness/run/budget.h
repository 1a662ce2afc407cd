#pragma once

#include "agents/model_endpoint.h"
#include "store/run_store.h"

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

/// What calls that were sent and never answered may have cost.
struct Unconfirmed {
  std::int64_t calls = 0;
  std::int64_t tokens = 0;
  double dollars = 0; ///< as far as the price is known
};

/// What was used up.
struct Spend {
  std::int64_t calls = 0;
  std::int64_t calls_from_record = 0; ///< of calls: they cost no tokens and no dollars
  std::int64_t tokens = 0;
  double dollars = 0;
  std::int64_t unpriced_calls = 0; ///< their dollars are unknown and not in the sum
  Unconfirmed unconfirmed = {};    ///< not in the sums above
};

/// What a call is expected to use, for reserving.
using CallEstimate = store::CallReservation;

/// Keeps the sum of what was spent, what may have been billed without an answer and what calls in
/// flight may still spend within the limits. A reply can be longer than its estimate only when
/// endpoint.max_output_tokens is not set. Not thread-safe. Wall time is watched by the run loop.
class Budget {
public:
  /// `price`: nullopt is unknown, and nothing is reserved against limits.dollars.
  Budget(const Limits& limits, std::optional<agents::Price> price, std::int64_t max_output_tokens);

  /// From the prompt's size and max_output_tokens or, without it, the longest reply so far.
  CallEstimate estimate(std::size_t prompt_bytes) const;
  /// Reserves for a call or, if that could exceed a limit, says which: "limits.calls = 5".
  std::optional<std::string> reserve(const std::string& key, const CallEstimate& estimate);
  /// The call ended unpaid: it was refused, or the recording has no such reply.
  void release(const std::string& key);
  /// The call ended without an answer: what it reserved may be billed, and counts against all
  /// limits but that on calls.
  void cut_off(const std::string& key);
  /// The same of earlier sessions.
  void add_unconfirmed(const Unconfirmed& earlier);
  /// The call was answered and paid, unless the reply is from the record; also for calls of earlier
  /// sessions, which were never reserved.
  void settle(const std::string& key, const agents::ModelReply& reply);

  const Spend& spent() const { return spent_; }

private:
  Limits limits_;
  std::optional<agents::Price> price_;
  std::int64_t max_output_tokens_;
  Spend spent_;
  std::int64_t longest_completion_ = 0;
  std::map<std::string, CallEstimate> reserved_;
};

} // namespace winnow::harness
