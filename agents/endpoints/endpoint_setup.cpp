#include "agents/endpoints/endpoint_setup.h"

#include "agents/endpoints/providers.h"
#include "agents/http/url.h"
#include "agents/money/prices.h"
#include "base/availability.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace winnow::agents {

using std::chrono::milliseconds;

milliseconds to_milliseconds(double seconds) {
  return milliseconds(static_cast<milliseconds::rep>(std::clamp(seconds, 0.001, 86400.0) * 1000));
}

const WireFormat& format_of(const EndpointConfig& config) {
  const WireFormat* format = find_wire_format(config.kind);
  if (format == nullptr && find_provider(config.kind) != nullptr) {
    throw UsageError(
        fmt::format("[endpoint] kind: '{}' is a provider, not a kind", config.kind),
        fmt::format("write endpoint.provider = \"{}\" and leave out endpoint.kind", config.kind));
  }
  if (format == nullptr) {
    std::vector<std::string> kinds = wire_format_names();
    kinds.insert(kinds.begin(), {"replay", "agent"});
    throw UsageError(
        fmt::format("[endpoint] unknown kind '{}'{}", config.kind, suggestion(config.kind, kinds)));
  }
  return *format;
}

std::string base_url_of(const EndpointConfig& config) {
  std::string base =
      config.base_url.empty() ? std::string(format_of(config).default_base_url()) : config.base_url;
  const std::string remedy = "set base_url to something like https://api.openai.com/v1 or "
                             "http://localhost:8000/v1";
  const auto parts = parse_url(base);
  if (!parts) {
    throw UsageError(fmt::format("base_url '{}' is not an http or https URL", base), remedy);
  }
  if (base.find_first_of("?#") != std::string::npos) {
    throw UsageError(fmt::format("base_url '{}' has a query (?...) or a fragment (#...), so Winnow "
                                 "cannot append a path to it",
                                 parts->shown),
                     remedy);
  }
  if (base.substr(0, base.find('/', base.find("//") + 2)).find('@') != std::string::npos) {
    throw UsageError(
        fmt::format("base_url of {} contains a user or password", parts->shown),
        "put the key into an environment variable and name the variable in api_key_env");
  }
  while (!base.empty() && base.back() == '/') {
    base.pop_back();
  }
  return base;
}

Key key_of(const EndpointConfig& config, const std::string& host) {
  const KeySources sources{config.api_key_cmd, config.api_key_file, key_variables(config, host)};
  Key key = find_key(sources);
  if (!key.value.empty() || is_loopback(host)) {
    return key;
  }
  if (sources.variables.empty()) {
    throw UsageError(
        fmt::format("no key for {}: the config does not say where the key is", host),
        "set endpoint.api_key_env to the name of the environment variable that holds the key");
  }
  const std::string& name = sources.variables.front();
  throw UsageError(
      fmt::format("no key for {}: the environment variable {} is {}", host, name,
                  std::getenv(name.c_str()) == nullptr ? "not set" : "empty"),
      fmt::format("export {0}=..., put {0}=... into .env or a keys file, or name another variable "
                  "in api_key_env",
                  name));
}

HttpOptions http_options(const EndpointConfig& config) {
  HttpOptions options;
  options.connect_timeout = to_milliseconds(config.connect_timeout_seconds);
  options.first_token_timeout = to_milliseconds(config.first_token_seconds);
  options.stall_timeout = to_milliseconds(config.stall_seconds);
  options.total_timeout = to_milliseconds(config.timeout_seconds);
  options.max_body_bytes = config.max_answer_bytes;
  options.proxy = config.proxy;
  options.ca_file = config.ca_file;
  return options;
}

GateLimits gate_limits(const EndpointConfig& config) {
  GateLimits limits;
  limits.parallel = std::max(config.parallel, 1);
  limits.requests_per_minute = config.requests_per_minute;
  limits.tokens_per_minute = config.tokens_per_minute;
  limits.outage = to_milliseconds(config.outage_seconds);
  return limits;
}

Availability probe_live(const EndpointConfig& config) {
  try {
    const std::string base = base_url_of(config);
    const UrlParts parts = *parse_url(base);
    const Key key = key_of(config, parts.host);
    return Availability::yes(key.value.empty()
                                 ? fmt::format("{}, without a key", parts.shown)
                                 : fmt::format("{}, key in {}", parts.shown, key.source));
  } catch (const UsageError& failure) {
    return Availability::no(failure.what(), failure.remedy());
  }
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kShippedPrices = "configs/prices.toml";

} // namespace

std::vector<fs::path> price_files(const EndpointConfig& config) {
  if (!config.prices.empty()) {
    if (!is_file(config.prices)) {
      throw UsageError(
          fmt::format("there is no price file {}", config.prices),
          "correct endpoint.prices, or remove it to use the prices that come with Winnow");
    }
    return {config.prices};
  }
  std::vector<fs::path> files;
  if (const auto own = users_folder("XDG_CONFIG_HOME", ".config");
      own && is_file(*own / "prices.toml")) {
    files.push_back(*own / "prices.toml");
  }
  if (const auto shipped = find_shipped(kShippedPrices)) {
    files.push_back(*shipped);
  }
  return files;
}

std::optional<Price> endpoint_price(const EndpointConfig& config, std::string_view host,
                                    std::string_view model) {
  const auto& input = config.dollars_per_million_input;
  const auto& output = config.dollars_per_million_output;
  if (input && output) {
    Price price;
    price.input = *input;
    price.output = *output;
    price.source = "[endpoint]";
    return price;
  }
  if (input || output) {
    throw UsageError(
        "[endpoint] sets only one of dollars_per_million_input and dollars_per_million_output",
        "set both keys, or remove both to use the prices of a file");
  }
  for (const fs::path& file : price_files(config)) {
    if (auto price = find_price(load_prices(file), host, model)) {
      return price;
    }
  }
  return std::nullopt;
}

} // namespace winnow::agents
