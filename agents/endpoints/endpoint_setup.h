#pragma once

#include "agents/http/gate.h"
#include "agents/http/http_client.h"
#include "agents/keys/key_source.h"
#include "agents/model/endpoint_config.h"
#include "agents/money/price.h"
#include "agents/wire/wire_format.h"
#include "base/availability.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

// Functions that derive the parts of a live endpoint from its configuration. They throw UsageError.

const WireFormat& format_of(const EndpointConfig& config);
std::string base_url_of(const EndpointConfig& config); ///< without trailing slashes
/// The result is empty if no key is needed: for a server on this machine.
Key key_of(const EndpointConfig& config, const std::string& host);
HttpOptions http_options(const EndpointConfig& config);
GateLimits gate_limits(const EndpointConfig& config);
std::chrono::milliseconds to_milliseconds(double seconds);

/// Checks whether the configuration could work. Sends no request to a model.
Availability probe_live(const EndpointConfig& config);

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
