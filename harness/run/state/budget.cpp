#include "harness/run/state/budget.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

// English and code have 3 to 4 bytes per token. A low figure overestimates the cost.
constexpr std::int64_t kBytesPerToken = 3;
// Estimate for the length of a reply before the first reply has come.
constexpr std::int64_t kFirstCompletionTokens = 2048;

} // namespace

CallEstimate Budget::estimate(std::size_t prompt_bytes, const CallTerms& terms) const {
  const auto input = static_cast<std::int64_t>(prompt_bytes) / kBytesPerToken + 1;
  const std::int64_t output = terms.max_output_tokens > 0
                                  ? terms.max_output_tokens
                                  : std::max(longest_completion_, kFirstCompletionTokens);
  return {input + output, terms.price ? agents::highest_cost(*terms.price, input, output) : 0.0};
}

bool Budget::allows_one(const CallEstimate& estimate) const {
  return (limits_.tokens == 0 || estimate.tokens <= limits_.tokens) &&
         (limits_.dollars == 0 || estimate.dollars <= limits_.dollars);
}

std::optional<std::string> Budget::reserve(const std::string& key, const CallEstimate& estimate) {
  CallEstimate total{spent_.tokens + spent_.unconfirmed.tokens + estimate.tokens,
                     spent_.dollars + spent_.unconfirmed.dollars + estimate.dollars};
  if (limits_.tokens > 0 || limits_.dollars > 0) { // thousands of calls may be reserved
    for (const auto& [other, held] : reserved_) {
      total.tokens += held.tokens;
      total.dollars += held.dollars;
    }
  }
  const std::int64_t calls = spent_.calls + static_cast<std::int64_t>(reserved_.size()) + 1;
  if (limits_.calls > 0 && calls > limits_.calls) {
    return fmt::format("limits.calls = {}", limits_.calls);
  }
  if (limits_.tokens > 0 && total.tokens > limits_.tokens) {
    return fmt::format("limits.tokens = {}", limits_.tokens);
  }
  // Recorded replies may contain dollars although the price is unknown. So the dollars spent are
  // checked by themselves too.
  if (limits_.dollars > 0 &&
      (total.dollars > limits_.dollars || spent_.dollars >= limits_.dollars)) {
    return fmt::format("limits.dollars = {:g}", limits_.dollars);
  }
  reserved_[key] = estimate;
  return std::nullopt;
}

void Budget::release(const std::string& key) {
  reserved_.erase(key);
}

void Budget::cut_off(const std::string& key) {
  if (const auto held = reserved_.find(key); held != reserved_.end()) {
    add_unconfirmed({1, held->second.tokens, held->second.dollars});
    reserved_.erase(held);
  }
}

void Budget::cut_off(const std::string& key, const agents::EstimatedCost& estimated) {
  reserved_.erase(key);
  add_unconfirmed(estimated);
}

void Budget::add_unconfirmed(const agents::EstimatedCost& earlier) {
  spent_.unconfirmed.requests += earlier.requests;
  spent_.unconfirmed.tokens += earlier.tokens;
  spent_.unconfirmed.dollars += earlier.dollars;
}

void Budget::pay(const std::string& key, const agents::ModelReply& reply) {
  cut_off(key, reply.estimated.value_or(agents::EstimatedCost()));
  longest_completion_ = std::max(longest_completion_, reply.usage.completion_tokens);
  if (!reply.served_from) {
    spent_.tokens += reply.usage.tokens();
    spent_.dollars += reply.dollars.value_or(0);
    spent_.unpriced_calls += reply.dollars ? 0 : 1;
  }
}

void Budget::settle(const std::string& key, const agents::ModelReply& reply) {
  pay(key, reply);
  ++spent_.calls;
  spent_.calls_from_record += reply.served_from ? 1 : 0;
}

} // namespace winnow::harness
