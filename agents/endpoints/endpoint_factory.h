#pragma once

#include "agents/model/endpoint_config.h"
#include "agents/model/model_endpoint.h"
#include "base/availability.h"

#include <memory>
#include <string>

namespace winnow::agents {

/// Throws UsageError for a configuration that cannot work: no key in the variable, no such file, a
/// bad URL.
std::unique_ptr<ModelEndpoint> make_endpoint(const EndpointConfig& config);
/// What the user should know before the first request: a key goes unencrypted to another machine.
/// Empty: nothing.
std::string endpoint_warning(const EndpointConfig& config);
/// Checks, for `winnow doctor`, whether the endpoint could be used. Sends no request to a model.
Availability probe_endpoint(const EndpointConfig& config);

} // namespace winnow::agents
