#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace winnow::agents {

/// Consecutive messages of one role are one turn; their texts join without a separator.
struct Message {
  std::string role; ///< "system", "user", "assistant"
  std::string text;
  /// Everything up to here is the same in later requests, so a provider may cache it.
  bool end_of_prefix = false;
};

/// What a reply must look like, where the text is not free.
struct ReplySchema {
  std::string name;   ///< letters, digits, '_' and '-'
  std::string schema; ///< JSON Schema; "strict": all properties required, no additional ones
};

struct ModelRequest {
  std::string key; ///< names the call within its run: "row_softmax/0/3"
  std::string model;
  std::vector<Message> messages;
  double temperature = -1;            ///< negative: not sent
  std::int64_t max_output_tokens = 0; ///< 0: not sent, or the format's default where it must be
  /// How long to reason: "none", "minimal", "low", "medium", "high", "xhigh" or "max"; empty: not
  /// sent. Formats without the word send the nearest they have.
  std::string effort;
  std::optional<ReplySchema> schema;
};

/// Token counts with one meaning for all providers.
struct Usage {
  std::int64_t prompt_tokens = 0;      ///< all of the prompt, cached or not
  std::int64_t cached_tokens = 0;      ///< of prompt_tokens: read from the provider's cache
  std::int64_t completion_tokens = 0;  ///< including reasoning
  std::int64_t reasoning_tokens = 0;   ///< of completion_tokens
  std::int64_t cache_write_tokens = 0; ///< of prompt_tokens: written to the provider's cache
};

} // namespace winnow::agents
