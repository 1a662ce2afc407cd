#pragma once

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

/// A file of prices like configs/prices.toml. The head of that file explains the format.
struct PriceTable {
  std::string date; ///< when the prices were last checked: "2026-11-20"
  std::vector<PriceEntry> entries;
};

/// Throws UsageError ("FILE:LINE:COLUMN: what; expected ...").
PriceTable parse_prices(std::string_view text, const std::string& file);
PriceTable load_prices(const std::filesystem::path& file);

/// The price of a model at a host. An entry with exactly this name wins. Otherwise the longest
/// entry counts that the name continues with "-latest", a date or a version number ("-2025-08-07",
/// "-20250805", "-0613", "-001"). A name with any other continuation is another model: its price is
/// unknown.
std::optional<Price> find_price(const PriceTable& table, std::string_view host,
                                std::string_view model);

} // namespace winnow::agents
