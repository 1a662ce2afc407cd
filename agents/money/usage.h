#pragma once

#include <cstdint>

namespace winnow::agents {

/// Token counts, with the same meaning for all providers.
struct Usage {
  std::int64_t prompt_tokens = 0;     ///< the whole prompt, cached or not
  std::int64_t cached_tokens = 0;     ///< the part of prompt_tokens read from the provider's cache
  std::int64_t completion_tokens = 0; ///< includes reasoning
  std::int64_t reasoning_tokens = 0;  ///< the part of completion_tokens spent on reasoning
  /// The part of prompt_tokens written to the provider's cache.
  std::int64_t cache_write_tokens = 0;
};

/// What requests cost that the endpoint did not count: they broke off, timed out, were cancelled or
/// were answered without counts. Computed from the prompt and from the bytes that arrived.
struct EstimatedCost {
  std::int64_t requests = 0;
  std::int64_t tokens = 0;
  double dollars = 0; ///< 0 if the price is unknown
};

} // namespace winnow::agents
