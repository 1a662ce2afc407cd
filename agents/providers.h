#pragma once

#include "agents/endpoint_config.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

/// A service or local server that Winnow knows how to reach.
struct Provider {
  std::string name; ///< "openai", "ollama"
  std::string kind; ///< its wire format
  std::string base_url;
  std::vector<std::string> key_variables; ///< in order; empty: a server on this machine, no key
};

const std::vector<Provider>& providers();
const Provider* find_provider(std::string_view name);

/// Puts the provider's kind and, if none is given, its base URL in place of its name. Throws
/// UsageError for an unknown name. Nothing to do without one.
void resolve_provider(EndpointConfig& config);

/// "openai/gpt-5", "openrouter/z-ai/glm-5": the provider and the model's name. Throws UsageError.
struct ProviderModel {
  std::string provider;
  std::string model;
};
ProviderModel parse_provider_model(const std::string& text);

/// The variables that a key for this endpoint may be in: the one that api_key_env names, else those
/// of the provider whose host it is. A key is never sent to a host that it was not meant for.
std::vector<std::string> key_variables(const EndpointConfig& config, const std::string& host);

} // namespace winnow::agents
