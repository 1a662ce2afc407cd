#include "agents/money/bill.h"

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

void Bill::add_lost(const Usage& usage) {
  if (usage.prompt_tokens + usage.completion_tokens > 0) {
    add(usage, true, std::nullopt);
  }
}

std::optional<double> Bill::dollars() const {
  return unknown_ ? std::nullopt : std::optional(dollars_);
}

} // namespace winnow::agents
