#pragma once

#include "agents/http/gate.h"
#include "agents/http/http_client.h"
#include "agents/keys/key_source.h"
#include "agents/model/endpoint_config.h"
#include "agents/wire/wire_format.h"
#include "base/availability.h"

#include <chrono>
#include <optional>
#include <string>

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

} // namespace winnow::agents
