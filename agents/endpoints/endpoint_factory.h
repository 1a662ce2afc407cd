#pragma once

#include "agents/model/endpoint_config.h"
#include "agents/model/model_endpoint.h"
#include "agents/sessions/session_judge.h"
#include "base/availability.h"

#include <filesystem>
#include <memory>
#include <string>

namespace winnow::agents {

/// What an endpoint of sessions needs on top of its configuration.
struct EndpointSetup {
  SessionJudge* judge = nullptr;
  std::filesystem::path sessions = {}; ///< the folder for transcripts; empty: none are kept
};

/// Throws UsageError for a configuration that cannot work: no key in the variable, no such file, a
/// bad URL, no such agent.
std::unique_ptr<ModelEndpoint> make_endpoint(const EndpointConfig& config,
                                             const EndpointSetup& setup = {});
/// What the user should know before the first request: a key goes unencrypted to another machine,
/// an agent can read the user's files. Empty: nothing.
std::string endpoint_warning(const EndpointConfig& config);
/// Checks, for `winnow doctor`, whether the endpoint could be used. Sends no request to a model.
Availability probe_endpoint(const EndpointConfig& config);

} // namespace winnow::agents
