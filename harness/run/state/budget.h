#pragma once

#include "agents/model/model_endpoint.h"
#include "harness/config/limits.h"
#include "store/run_store.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace winnow::harness {

/// The cost of a run so far.
struct Spend {
  std::int64_t calls = 0; ///< that were answered
  /// The part of `calls` with a recorded reply: no tokens, no dollars.
  std::int64_t calls_from_record = 0;
  std::int64_t tokens = 0;
  double dollars = 0;
  std::int64_t unpriced_calls = 0; ///< calls of unknown price: `dollars` does not include them
  /// Of requests that the provider did not count: an estimate from what arrived, or what was
  /// reserved for a request whose session was killed. Not included in the sums above.
  agents::EstimatedCost unconfirmed = {};
};

/// The expected cost of a call, for a reservation.
using CallEstimate = store::CallReservation;

/// What decides how much a call to a model may cost.
struct CallTerms {
  std::optional<agents::Price> price = {}; ///< nullopt: unknown; an estimate has no dollars
  std::int64_t max_output_tokens = 0;
};

/// Keeps a run within its limits. It adds up three costs: answered calls, calls that may have been
/// billed without an answer, and reservations for calls in flight. A reply can be longer than its
/// estimate only if endpoint.max_output_tokens is not set. Not thread-safe. The run loop checks the
/// limit on wall time.
class Budget {
public:
  explicit Budget(const Limits& limits) : limits_(limits) {}

  /// Computed from the prompt's size and max_output_tokens; without max_output_tokens, from the
  /// longest reply so far.
  CallEstimate estimate(std::size_t prompt_bytes, const CallTerms& terms) const;
  /// Whether the limits allow one such call, if nothing is spent.
  bool allows_one(const CallEstimate& estimate) const;
  /// Reserves the estimate for a call. If that could exceed a limit, reserves nothing and returns
  /// the limit: "limits.calls = 5".
  std::optional<std::string> reserve(const std::string& key, const CallEstimate& estimate);
  /// What is reserved for the call.
  const CallEstimate& reserved(const std::string& key) const { return reserved_.at(key); }
  /// The call ended at no cost: it was refused, or the recording has no such reply.
  void release(const std::string& key);
  /// The call ended without an answer. What was reserved for it may be billed, so it counts against
  /// all limits except the limit on calls.
  void cut_off(const std::string& key);
  /// The call ended without an answer, and the endpoint estimates its cost.
  void cut_off(const std::string& key, const agents::EstimatedCost& estimated);
  /// Adds the unconfirmed cost of earlier sessions.
  void add_unconfirmed(const agents::EstimatedCost& earlier);
  /// The call ended without an answer, and the provider counted what it took.
  void pay(const std::string& key, const agents::ModelReply& reply);
  /// The call was answered. A reply from a record costs nothing. Also called for calls of earlier
  /// sessions, which have no reservation.
  void settle(const std::string& key, const agents::ModelReply& reply);

  const Spend& spent() const { return spent_; }

private:
  Limits limits_;
  Spend spent_;
  std::int64_t longest_completion_ = 0;
  std::map<std::string, CallEstimate> reserved_;
};

} // namespace winnow::harness
