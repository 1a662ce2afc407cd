#pragma once

#include "agents/model/endpoint_config.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

/// A service or local server that Winnow knows how to reach.
struct Provider {
  std::string name; ///< "openai", "ollama"
  std::string kind; ///< its wire format
  std::string base_url;
  /// In this order; empty: a server on this machine, no key.
  std::vector<std::string> key_variables;
};

const std::vector<Provider>& providers();
const Provider* find_provider(std::string_view name);

/// Replaces the provider's name by its kind and, if no base URL is given, its base URL. Does
/// nothing if no provider is named. Throws UsageError for an unknown name.
void resolve_provider(EndpointConfig& config);

/// Splits "openai/gpt-5" or "openrouter/z-ai/glm-5" into the provider and the model's name. Throws
/// UsageError.
struct ProviderModel {
  std::string provider;
  std::string model;
};
ProviderModel parse_provider_model(const std::string& text);

/// The variables that may hold the key for this endpoint: api_key_env if set, else those of the
/// provider with this host. So a provider's key is never sent to another host.
std::vector<std::string> key_variables(const EndpointConfig& config, const std::string& host);

} // namespace winnow::agents
