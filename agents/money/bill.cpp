#include "agents/money/bill.h"

#include <algorithm>

namespace winnow::agents {

void Bill::add(const Usage& usage, bool usage_known, std::optional<double> said) {
  usage_.prompt_tokens += usage.prompt_tokens;
  usage_.cached_tokens += usage.cached_tokens;
  usage_.cache_write_tokens += usage.cache_write_tokens;
  usage_.completion_tokens += usage.completion_tokens;
  usage_.reasoning_tokens += usage.reasoning_tokens;
  if (said) {
    dollars_ += *said;
  } else if (usage_known && price_) {
    dollars_ += cost(*price_, usage);
    used_price_ = true;
  } else {
    unknown_ = true;
  }
}

void Bill::add_lost(const Usage& counted, const Usage& at_least) {
  if (counted.prompt_tokens + counted.completion_tokens > 0) {
    add(counted, true, std::nullopt);
  }
  Usage whole = counted;
  // The endpoint's count of a prompt is exact, a count of an answer is one of its beginning.
  whole.prompt_tokens = counted.prompt_tokens > 0 ? counted.prompt_tokens : at_least.prompt_tokens;
  whole.completion_tokens = std::max(counted.completion_tokens, at_least.completion_tokens);
  estimate(counted, whole);
}

void Bill::add_uncounted(const Usage& at_least) {
  unknown_ = true;
  estimate({}, at_least);
}

void Bill::estimate(const Usage& counted, const Usage& whole) {
  const std::int64_t tokens = whole.prompt_tokens + whole.completion_tokens -
                              counted.prompt_tokens - counted.completion_tokens;
  if (tokens > 0) {
    ++estimated_.requests;
    estimated_.tokens += tokens;
    estimated_.dollars += price_ ? cost(*price_, whole) - cost(*price_, counted) : 0;
  }
}

std::optional<double> Bill::dollars() const {
  return unknown_ ? std::nullopt : std::optional(dollars_);
}

} // namespace winnow::agents
