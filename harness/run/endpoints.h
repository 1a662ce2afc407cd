#pragma once

#include "agents/endpoints/endpoint_factory.h"
#include "agents/model/endpoint_config.h"
#include "agents/record/recording.h"
#include "base/availability.h"
#include "harness/run/state/budget.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace winnow::harness {

/// Like agents::make_endpoint. In addition a replay can take its replies from a store: those of the
/// run that endpoint.run names, otherwise those of the newest run. Throws UsageError for a
/// configuration that cannot work.
std::unique_ptr<agents::ModelEndpoint> make_run_endpoint(const agents::EndpointConfig& config,
                                                         const agents::EndpointSetup& setup = {});
/// All replies of a replay. Throws UsageError if its file cannot be read.
std::vector<agents::RecordedCall> recorded_calls(const agents::EndpointConfig& config);
/// Like agents::probe_endpoint, with the same addition.
Availability probe_run_endpoint(const agents::EndpointConfig& config);

/// The price of the endpoint's calls; nullopt: the price is unknown, or the endpoint is a replay,
/// which costs nothing. Throws UsageError for a price file with a mistake.
std::optional<agents::Price> run_price(const agents::EndpointConfig& config);
/// The most tokens of one reply. If endpoint.max_output_tokens is not set: what the model allows by
/// its `price`, within a share of the limits that lets all parallel calls be in flight twice. 0:
/// not known.
std::int64_t output_limit(const Limits& limits, const agents::EndpointConfig& endpoint,
                          const std::optional<agents::Price>& price);
/// What is reserved for one call: at least endpoint.dollars_per_session for a session of an agent.
CallEstimate reservation(CallEstimate estimate, const agents::EndpointConfig& config);
/// Throws UsageError if a limit on dollars cannot be enforced because the price is unknown and, for
/// sessions of an agent, they have no limit of their own.
/// `of_model` follows the model's name in the message.
void check_dollar_limit(const Limits& limits, const agents::EndpointConfig& config,
                        const std::optional<agents::Price>& price,
                        const std::string& of_model = {});

} // namespace winnow::harness
