#pragma once

#include "agents/model_request.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::agents {

/// What calls with long prompts cost, all of their tokens. In US dollars per million tokens.
struct PriceTier {
  std::int64_t above_prompt_tokens = 0;
  double input = 0;
  double output = 0;
  std::optional<double> cached_input;
  std::optional<double> cache_write;
};

/// US dollars per million tokens. What is absent costs as much as plain input.
struct Price {
  double input = 0;
  double output = 0; ///< reasoning included
  std::optional<double> cached_input;
  std::optional<double> cache_write;
  std::string source;                ///< "prices.toml, 2026-11-20: https://...", "[endpoint]"
  std::vector<PriceTier> tiers = {}; ///< the highest that a prompt is above holds
};

/// US dollars for one call.
double cost(const Price& price, const Usage& usage);
/// The most that so many tokens can cost, wherever the provider's cache has them.
double highest_cost(const Price& price, std::int64_t prompt_tokens, std::int64_t completion_tokens);

/// {"input", "output", "cached_input", "cache_write", "tiers", "source"}, for records of calls.
nlohmann::json price_json(const Price& price);
/// nullopt for what price_json() does not write.
std::optional<Price> price_from_json(const nlohmann::json& json);

} // namespace winnow::agents
