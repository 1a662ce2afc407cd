#pragma once

#include "base/fields.h"

#include <cstdint>
#include <optional>
#include <string>

namespace winnow::tasks {

/// Token counts, with the same meaning for all providers.
struct Usage {
  std::int64_t prompt_tokens = 0;     ///< the whole prompt, cached or not
  std::int64_t cached_tokens = 0;     ///< the part of prompt_tokens read from the provider's cache
  std::int64_t completion_tokens = 0; ///< includes reasoning
  std::int64_t reasoning_tokens = 0;  ///< the part of completion_tokens spent on reasoning
  /// The part of prompt_tokens written to the provider's cache.
  std::int64_t cache_write_tokens = 0;

  /// Of the prompt and of the completion.
  std::int64_t tokens() const { return prompt_tokens + completion_tokens; }
  Usage& operator+=(const Usage& more) {
    prompt_tokens += more.prompt_tokens;
    cached_tokens += more.cached_tokens;
    completion_tokens += more.completion_tokens;
    reasoning_tokens += more.reasoning_tokens;
    cache_write_tokens += more.cache_write_tokens;
    return *this;
  }
};
WINNOW_FIELDS(Usage, prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens,
              cache_write_tokens)

/// What a model answered to one call, and what that cost. Endpoints give it, and the store keeps
/// it.
struct ModelAnswer {
  std::string text;
  /// In Winnow's words for all providers: "stop", "length", "content_filter" (also refusals),
  /// "tool_calls". Other reasons stay as the provider wrote them.
  std::string finish_reason;
  std::string model;                         ///< the name that the endpoint sent
  std::string request_id;                    ///< the provider's id for the request, for its support
  Usage usage;                               ///< sum over all attempts that the endpoint counted
  std::optional<double> dollars;             ///< nullopt: the price is unknown
  double seconds = 0;                        ///< duration of the last attempt
  std::optional<double> first_token_seconds; ///< of the last attempt, if it was streamed
  int attempts = 1;
  bool repaired = false; ///< the first reply violated its schema, so a second one was requested
  /// The recorded call with the original reply; this one cost nothing.
  std::optional<std::int64_t> served_from;
};
WINNOW_FIELDS(ModelAnswer, text, finish_reason, model, request_id, usage, dollars, seconds,
              first_token_seconds, attempts, repaired, served_from)

} // namespace winnow::tasks
