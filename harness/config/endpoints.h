#pragma once

#include "agents/endpoint_config.h"
#include "harness/run/budget.h"

#include <memory>
#include <optional>

namespace winnow::harness {

/// As agents::make_endpoint, and a replay may also take its replies from a store: of the run that
/// endpoint.run names, else of the newest. Throws UsageError for a config that cannot work.
std::unique_ptr<agents::ModelEndpoint> make_run_endpoint(const agents::EndpointConfig& config);
/// As agents::probe_endpoint.
Availability probe_run_endpoint(const agents::EndpointConfig& config);

/// What a call of the endpoint costs; nullopt: unknown, or nobody is paid because it is a replay.
/// Throws UsageError for a file of prices with a mistake in it.
std::optional<agents::Price> run_price(const agents::EndpointConfig& config);
/// Throws UsageError when a limit on dollars could not hold, for want of a price.
void check_dollar_limit(const Limits& limits, const agents::EndpointConfig& config,
                        const std::optional<agents::Price>& price);

} // namespace winnow::harness
