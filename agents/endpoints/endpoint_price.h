#pragma once

#include "agents/model/endpoint_config.h"
#include "agents/money/price.h"

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace winnow::agents {

/// The price files to search, in this order. If the endpoint names a file: only that file.
/// Otherwise the user's file (winnow/prices.toml in $XDG_CONFIG_HOME or ~/.config), then the
/// shipped one. Files that do not exist are left out; if the named file does not exist, throws
/// UsageError.
std::vector<std::filesystem::path> price_files(const EndpointConfig& config);

/// The price of this model at this host: dollars_per_million_* of the endpoint, else the entry of a
/// price file. nullopt: unknown. Throws UsageError for a price file with a mistake.
std::optional<Price> endpoint_price(const EndpointConfig& config, std::string_view host,
                                    std::string_view model);

} // namespace winnow::agents
