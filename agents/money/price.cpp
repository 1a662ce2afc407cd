#include "agents/money/price.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

namespace winnow::agents {
namespace {

using nlohmann::json;

/// The prices for a prompt of this length.
PriceTier rates_for(const Price& price, std::int64_t prompt_tokens) {
  PriceTier rates{-1, price.input, price.output, price.cached_input, price.cache_write};
  for (const PriceTier& tier : price.tiers) {
    if (prompt_tokens > tier.above_prompt_tokens &&
        tier.above_prompt_tokens > rates.above_prompt_tokens) {
      rates = tier;
    }
  }
  return rates;
}

template <typename Rates> json rates_json(const Rates& rates) {
  json object{{"input", rates.input}, {"output", rates.output}};
  if (rates.cached_input) {
    object["cached_input"] = *rates.cached_input;
  }
  if (rates.cache_write) {
    object["cache_write"] = *rates.cache_write;
  }
  return object;
}

bool read_number(const json& object, const char* name, double& out) {
  const auto member = object.find(name);
  if (member == object.end() || !member->is_number()) {
    return false;
  }
  out = member->get<double>();
  return std::isfinite(out) && out >= 0;
}

template <typename Rates> bool read_rates(const json& object, Rates& rates) {
  const auto optional = [&](const char* name, std::optional<double>& out) {
    return !object.contains(name) || read_number(object, name, out.emplace());
  };
  return object.is_object() && read_number(object, "input", rates.input) &&
         read_number(object, "output", rates.output) &&
         optional("cached_input", rates.cached_input) && optional("cache_write", rates.cache_write);
}

} // namespace

double cost(const Price& price, const Usage& usage) {
  const PriceTier rates = rates_for(price, usage.prompt_tokens);
  const std::int64_t prompt = std::max<std::int64_t>(usage.prompt_tokens, 0);
  const std::int64_t cached = std::clamp<std::int64_t>(usage.cached_tokens, 0, prompt);
  const std::int64_t written =
      std::clamp<std::int64_t>(usage.cache_write_tokens, 0, prompt - cached);
  const std::int64_t completion = std::max<std::int64_t>(usage.completion_tokens, 0);
  return (static_cast<double>(prompt - cached - written) * rates.input +
          static_cast<double>(cached) * rates.cached_input.value_or(rates.input) +
          static_cast<double>(written) * rates.cache_write.value_or(rates.input) +
          static_cast<double>(completion) * rates.output) /
         1e6;
}

double highest_cost(const Price& price, std::int64_t prompt_tokens,
                    std::int64_t completion_tokens) {
  Usage usage;
  usage.prompt_tokens = prompt_tokens;
  usage.completion_tokens = completion_tokens;
  const double plain = cost(price, usage);
  usage.cache_write_tokens = prompt_tokens;
  return std::max(plain, cost(price, usage));
}

std::int64_t tokens_in(std::int64_t bytes) {
  constexpr std::int64_t kBytesPerToken = 3; // a low guess
  return (bytes + kBytesPerToken - 1) / kBytesPerToken;
}

json price_json(const Price& price) {
  json object = rates_json(price);
  for (const PriceTier& tier : price.tiers) {
    json rates = rates_json(tier);
    rates["above_prompt_tokens"] = tier.above_prompt_tokens;
    object["tiers"].push_back(std::move(rates));
  }
  object["source"] = price.source;
  return object;
}

std::optional<Price> price_from_json(const json& object) {
  Price price;
  if (!read_rates(object, price)) {
    return std::nullopt;
  }
  if (const auto source = object.find("source"); source != object.end() && source->is_string()) {
    price.source = source->get<std::string>();
  }
  const auto tiers = object.find("tiers");
  if (tiers == object.end()) {
    return price;
  }
  for (const json& item : *tiers) {
    PriceTier tier;
    const auto above = item.is_object() ? item.find("above_prompt_tokens") : item.end();
    if (!read_rates(item, tier) || above == item.end() || !above->is_number_integer()) {
      return std::nullopt;
    }
    tier.above_prompt_tokens = above->get<std::int64_t>();
    price.tiers.push_back(tier);
  }
  return price;
}

void Bill::add(const Usage& usage, bool usage_known, std::optional<double> said) {
  usage_ += usage;
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
  if (counted.tokens() > 0) {
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
  const std::int64_t tokens = whole.tokens() - counted.tokens();
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
