#include "agents/endpoints/providers.h"

#include "agents/http/url.h"
#include "base/error.h"
#include "base/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::agents {

// Sources: the providers' API references. The google-genai library prefers GOOGLE_API_KEY to
// GEMINI_API_KEY.
const std::vector<Provider>& providers() {
  static const std::vector<Provider> all{
      {"openai", "responses", "https://api.openai.com/v1", {"OPENAI_API_KEY"}},
      {"openai-chat", "chat", "https://api.openai.com/v1", {"OPENAI_API_KEY"}},
      {"anthropic", "anthropic", "https://api.anthropic.com", {"ANTHROPIC_API_KEY"}},
      {"gemini",
       "gemini",
       "https://generativelanguage.googleapis.com",
       {"GOOGLE_API_KEY", "GEMINI_API_KEY"}},
      {"openrouter", "chat", "https://openrouter.ai/api/v1", {"OPENROUTER_API_KEY"}},
      {"deepseek", "chat", "https://api.deepseek.com/v1", {"DEEPSEEK_API_KEY"}},
      {"ollama", "chat", "http://localhost:11434/v1", {}},
      {"vllm", "chat", "http://localhost:8000/v1", {}},
      {"llamacpp", "chat", "http://localhost:8080/v1", {}},
  };
  return all;
}

const Provider* find_provider(std::string_view name) {
  return find_named(providers(), name);
}

namespace {

const Provider& known_provider(const std::string& name) {
  if (const Provider* provider = find_provider(name)) {
    return *provider;
  }
  auto names = each<std::string>(providers(), &Provider::name);
  throw UsageError(fmt::format("unknown provider '{}'{}", name, suggestion(name, names)),
                   fmt::format("write PROVIDER/MODEL, with one of {}; for any other server set "
                               "endpoint.kind, endpoint.base_url and endpoint.model",
                               join(names, ", ")));
}

} // namespace

void resolve_provider(EndpointConfig& config) {
  if (config.provider.empty()) {
    return;
  }
  const Provider& provider = known_provider(config.provider);
  config.kind = provider.kind;
  if (config.base_url.empty()) {
    config.base_url = provider.base_url;
  }
}

ProviderModel parse_provider_model(const std::string& text) {
  const std::size_t slash = text.find('/');
  const Provider& provider = known_provider(text.substr(0, slash));
  if (slash == std::string::npos || slash + 1 == text.size()) {
    throw UsageError(fmt::format("'{}' has no model name behind the provider", text),
                     fmt::format("expected PROVIDER/MODEL, for instance {}/NAME", provider.name));
  }
  return {provider.name, text.substr(slash + 1)};
}

std::vector<std::string> key_variables(const EndpointConfig& config, const std::string& host) {
  if (!config.api_key_env.empty()) {
    return {config.api_key_env};
  }
  for (const Provider& provider : providers()) {
    if (!provider.key_variables.empty() && parse_url(provider.base_url)->host == host) {
      return provider.key_variables;
    }
  }
  return {};
}

} // namespace winnow::agents
