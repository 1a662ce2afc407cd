#include "agents/endpoints/endpoint_factory.h"

#include "agents/endpoints/endpoint_setup.h"
#include "agents/endpoints/live_endpoint.h"
#include "agents/endpoints/providers.h"
#include "agents/http/url.h"
#include "agents/keys/secret_shapes.h"
#include "agents/record/replay_endpoint.h"
#include "agents/sessions/agent_endpoint.h"
#include "base/error.h"
#include "base/text.h"
#include "process/session_fence.h"

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

void check_words(const EndpointConfig& config) {
  const std::vector<std::string> efforts{"none", "minimal", "low", "medium",
                                         "high", "xhigh",   "max"};
  require(config.effort.empty() || contains(efforts, config.effort),
          fmt::format("unknown effort '{}'{}", config.effort, suggestion(config.effort, efforts)));
  if (config.kind != "replay" && config.kind != "agent") {
    format_of(config);
  }
}

Availability probe_replay(const EndpointConfig& config) {
  std::error_code code;
  if (config.file.empty() || !std::filesystem::is_regular_file(config.file, code)) {
    return Availability::no(config.file.empty() ? "the config names no recording"
                                                : fmt::format("no such file: {}", config.file),
                            "ask a model with --model and endpoint.base_url (docs/endpoints.md), "
                            "or name a file of recorded calls (JSON lines) in [endpoint] file");
  }
  return Availability::yes(fmt::format("recorded replies in {}", config.file));
}

std::unique_ptr<ModelEndpoint> make_agent_endpoint(const EndpointConfig& config,
                                                   const EndpointSetup& setup) {
  const AgentAdapter adapter = find_agent(config.agent);
  require(config.evaluations >= 1,
          fmt::format("evaluations is {}; expected 1 or more", config.evaluations));
  require(config.session_time.count() > 0, "session_time must be more than 0");
  require(config.dollars_per_session >= 0 && std::isfinite(config.dollars_per_session),
          fmt::format("dollars_per_session is {}; expected 0 or more", config.dollars_per_session));
  if (setup.judge == nullptr) {
    throw UsageError("[endpoint] kind = \"agent\" works in a run only: a session of an agent needs "
                     "a judge",
                     "use `winnow run`");
  }
  return std::make_unique<AgentEndpoint>(
      config, AgentEndpointSetup{.agent = find_installed(adapter),
                                 .judge = *setup.judge,
                                 .sessions = setup.sessions,
                                 .price = endpoint_price(config, adapter.price_host, config.model),
                                 .fenced = process::probe_session_fence().ok,
                                 .bounds = {}});
}

std::string unfenced_warning(const std::string& agent) {
  const Availability& fence = process::probe_session_fence();
  return fence.ok ? std::string()
                  : fmt::format("no fence is around the sessions of '{}', because {}. The agent "
                                "confirms its own actions, and it can read and change all that you "
                                "can: your files, the store, the catalogue with its hidden shapes, "
                                "and other sessions; {}",
                                agent, fence.why, fence.remedy);
}

} // namespace

std::unique_ptr<ModelEndpoint> make_endpoint(const EndpointConfig& configured,
                                             const EndpointSetup& setup) {
  EndpointConfig config = configured;
  resolve_provider(config);
  check_numbers(config);
  check_words(config);
  refuse_secrets(config);
  if (config.kind == "replay") {
    if (const Availability found = probe_replay(config); !found.ok) {
      throw UsageError(fmt::format("the replay endpoint cannot be used: {}", found.why),
                       found.remedy);
    }
    return std::make_unique<ReplayEndpoint>(read_recording(config.file), config.parallel,
                                            config.replay_latency_scale);
  }
  if (config.kind == "agent") {
    return make_agent_endpoint(config, setup);
  }
  return std::make_unique<LiveEndpoint>(config, std::make_shared<HttpClient>());
}

std::string endpoint_warning(const EndpointConfig& configured) {
  EndpointConfig config = configured;
  resolve_provider(config);
  if (config.kind == "replay") {
    return {};
  }
  if (config.kind == "agent") {
    return unfenced_warning(config.agent);
  }
  const UrlParts url = *parse_url(base_url_of(config));
  if (url.scheme != "http" || is_loopback(url.host)) {
    return {};
  }
  return fmt::format("the key goes unencrypted to {}: whoever is on the way can read it and change "
                     "the answers; use https://, or a tunnel to this machine",
                     url.shown);
}

Availability probe_endpoint(const EndpointConfig& configured) {
  EndpointConfig config = configured;
  resolve_provider(config);
  if (config.kind == "replay") {
    return probe_replay(config);
  }
  if (config.kind == "agent") {
    try {
      return probe_agent(find_agent(config.agent));
    } catch (const UsageError& failure) {
      return Availability::no(failure.what(), failure.remedy());
    }
  }
  return probe_live(config);
}

} // namespace winnow::agents
