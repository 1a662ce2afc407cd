#pragma once

#include "agents/endpoint_config.h"
#include "agents/money/price.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

struct PriceEntry {
  std::string host; ///< "api.openai.com", lower case
  std::string model;
  Price price;
};

/// A file of prices, as configs/prices.toml, whose head explains it.
struct PriceTable {
  std::string date; ///< when somebody last looked at it: "2026-11-20"
  std::vector<PriceEntry> entries;
};

/// Throws UsageError ("FILE:LINE:COLUMN: what; expected ...").
PriceTable parse_prices(std::string_view text, const std::string& file);
PriceTable load_prices(const std::filesystem::path& file);

/// The price of a model at a host: of the entry with its very name, else of the longest that its
/// name continues with "-latest" or a date or version number ("-2025-08-07", "-20250805", "-0613",
/// "-001"). A name that continues in any other way is another model, whose price is not known.
std::optional<Price> find_price(const PriceTable& table, std::string_view host,
                                std::string_view model);

/// Where prices are looked up, in this order: only the file that the endpoint names or, without
/// one, the user's (winnow/prices.toml in $XDG_CONFIG_HOME or ~/.config), then the shipped one.
/// Files that do not exist are left out, but for one that is named: UsageError.
std::vector<std::filesystem::path> price_files(const EndpointConfig& config);

/// What this model costs there: dollars_per_million_* of the endpoint, else what a file says.
/// nullopt: unknown. Throws UsageError for a file with a mistake in it.
std::optional<Price> endpoint_price(const EndpointConfig& config, std::string_view host,
                                    std::string_view model);

} // namespace winnow::agents
