#include "harness/budget.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

// English and code have 3 to 4 bytes a token; assuming fewer bytes overestimates the cost.
constexpr std::int64_t kBytesPerToken = 3;
// What a reply is taken to need before the first one has been seen.
constexpr std::int64_t kFirstCompletionTokens = 2048;

} // namespace

Budget::Budget(const Limits& limits, const agents::EndpointConfig& endpoint)
    : limits_(limits), max_output_tokens_(endpoint.max_output_tokens),
      dollars_per_million_input_(endpoint.dollars_per_million_input),
      dollars_per_million_output_(endpoint.dollars_per_million_output) {}

CallEstimate Budget::estimate(std::size_t prompt_bytes) const {
  const auto input = static_cast<std::int64_t>(prompt_bytes) / kBytesPerToken + 1;
  const std::int64_t output = max_output_tokens_ > 0
                                  ? max_output_tokens_
                                  : std::max(longest_completion_, kFirstCompletionTokens);
  CallEstimate result;
  result.tokens = input + output;
  result.dollars = (static_cast<double>(input) * dollars_per_million_input_.value_or(0) +
                    static_cast<double>(output) * dollars_per_million_output_.value_or(0)) /
                   1e6;
  return result;
}

std::optional<std::string> Budget::reserve(const std::string& key, const CallEstimate& estimate) {
  CallEstimate total{spent_.tokens + estimate.tokens, spent_.dollars + estimate.dollars};
  for (const auto& [other, held] : reserved_) {
    total.tokens += held.tokens;
    total.dollars += held.dollars;
  }
  const std::int64_t calls = spent_.calls + static_cast<std::int64_t>(reserved_.size()) + 1;
  if (limits_.calls > 0 && calls > limits_.calls) {
    return fmt::format("limits.calls = {}", limits_.calls);
  }
  if (limits_.tokens > 0 && total.tokens > limits_.tokens) {
    return fmt::format("limits.tokens = {}", limits_.tokens);
  }
  // Recorded replies may cost dollars that no price foretells: what is spent counts by itself too.
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

void Budget::settle(const std::string& key, const agents::Usage& usage,
                    std::optional<double> dollars) {
  reserved_.erase(key);
  ++spent_.calls;
  spent_.tokens += usage.prompt_tokens + usage.completion_tokens;
  spent_.dollars += dollars.value_or(0);
  spent_.unpriced_calls += dollars ? 0 : 1;
  longest_completion_ = std::max(longest_completion_, usage.completion_tokens);
}

} // namespace winnow::harness
