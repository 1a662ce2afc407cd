#include "agents/endpoint_config.h"
#include "agents/endpoint_setup.h"
#include "agents/live_endpoint.h"
#include "agents/providers.h"
#include "agents/record/replay_endpoint.h"
#include "base/error.h"
#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <system_error>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

constexpr int kMaxParallel = 1024;
constexpr int kMaxAttempts = 100;

void require(bool good, const std::string& what) {
  if (!good) {
    throw UsageError(fmt::format("[endpoint] {}", what));
  }
}

void check_numbers(const EndpointConfig& config) {
  require(config.parallel >= 1 && config.parallel <= kMaxParallel,
          fmt::format("parallel is {}; expected 1 to {}", config.parallel, kMaxParallel));
  require(config.max_attempts >= 1 && config.max_attempts <= kMaxAttempts,
          fmt::format("max_attempts is {}; expected 1 to {}", config.max_attempts, kMaxAttempts));
  require(config.timeout_seconds > 0 && std::isfinite(config.timeout_seconds),
          fmt::format("timeout_seconds is {}; expected more than 0", config.timeout_seconds));
  require(
      config.replay_latency_scale >= 0 && std::isfinite(config.replay_latency_scale),
      fmt::format("replay_latency_scale is {}; expected 0 or more", config.replay_latency_scale));
  require(config.connect_timeout_seconds > 0 && config.stall_seconds > 0 &&
              config.first_token_seconds > 0 && config.outage_seconds > 0,
          "connect_timeout_seconds, first_token_seconds, stall_seconds and outage_seconds must be "
          "more than 0");
  require(config.requests_per_minute >= 0 && config.tokens_per_minute >= 0,
          "requests_per_minute and tokens_per_minute must be 0 or more");
  require(config.retry_base_seconds >= 0,
          fmt::format("retry_base_seconds is {}; expected 0 or more", config.retry_base_seconds));
}

/// Rejects headers that may carry secrets, because the configuration is stored with every run.
void check_headers(const EndpointConfig& config) {
  for (const std::string& header : config.extra_headers) {
    const std::size_t colon = header.find(':');
    require(colon != std::string::npos && colon > 0 &&
                header.find_first_of("\r\n") == std::string::npos,
            "each item of extra_headers must have the form \"Name: value\"");
    std::string name = header.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool secret = name == "authorization" || name == "cookie" || name.ends_with("api-key");
    require(!secret, fmt::format("extra_headers must not hold '{}': set the key with api_key_env, "
                                 "api_key_cmd or api_key_file",
                                 name));
  }
}

void check_words(const EndpointConfig& config) {
  const std::vector<std::string> efforts{"none", "minimal", "low", "medium",
                                         "high", "xhigh",   "max"};
  require(config.effort.empty() ||
              std::find(efforts.begin(), efforts.end(), config.effort) != efforts.end(),
          fmt::format("unknown effort '{}'{}", config.effort, suggestion(config.effort, efforts)));
  if (config.kind != "replay") {
    format_of(config);
  }
}

Availability probe_replay(const EndpointConfig& config) {
  std::error_code code;
  if (config.file.empty() || !std::filesystem::is_regular_file(config.file, code)) {
    return Availability::no(config.file.empty() ? "the config names no recording"
                                                : fmt::format("no such file: {}", config.file),
                            "name a file of recorded calls (JSON lines) in [endpoint] file");
  }
  return Availability::yes(fmt::format("recorded replies in {}", config.file));
}

} // namespace

std::unique_ptr<ModelEndpoint> make_endpoint(const EndpointConfig& configured) {
  EndpointConfig config = configured;
  resolve_provider(config);
  check_numbers(config);
  check_words(config);
  check_headers(config);
  if (config.kind == "replay") {
    if (const Availability found = probe_replay(config); !found.ok) {
      throw UsageError(fmt::format("the replay endpoint cannot be used: {}", found.why),
                       found.remedy);
    }
    return std::make_unique<ReplayEndpoint>(read_recording(config.file), config.parallel,
                                            config.replay_latency_scale);
  }
  return std::make_unique<LiveEndpoint>(config, std::make_shared<HttpClient>());
}

Availability probe_endpoint(const EndpointConfig& configured) {
  EndpointConfig config = configured;
  resolve_provider(config);
  if (config.kind == "replay") {
    return probe_replay(config);
  }
  return probe_live(config);
}

} // namespace winnow::agents
