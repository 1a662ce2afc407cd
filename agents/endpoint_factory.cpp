#include "agents/endpoint_config.h"
#include "agents/openai_endpoint.h"
#include "agents/record/replay_endpoint.h"
#include "base/error.h"
#include "base/text.h"

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
  require(config.connect_timeout_seconds > 0 && config.stall_seconds > 0,
          "connect_timeout_seconds and stall_seconds must be more than 0");
  require(config.retry_base_seconds >= 0,
          fmt::format("retry_base_seconds is {}; expected 0 or more", config.retry_base_seconds));
}

std::string unknown_kind(const EndpointConfig& config) {
  return fmt::format("[endpoint] unknown kind '{}'{}", config.kind,
                     suggestion(config.kind, {"replay", "openai"}));
}

Availability probe_replay(const EndpointConfig& config) {
  std::error_code code;
  if (config.file.empty() || !std::filesystem::is_regular_file(config.file, code)) {
    return Availability::no(config.file.empty() ? "no recording is named"
                                                : fmt::format("no such file: {}", config.file),
                            "name a file of recorded calls (JSON lines) in [endpoint] file");
  }
  return Availability::yes(fmt::format("recorded replies in {}", config.file));
}

} // namespace

std::unique_ptr<ModelEndpoint> make_endpoint(const EndpointConfig& config) {
  check_numbers(config);
  if (config.kind == "replay") {
    if (const Availability found = probe_replay(config); !found.ok) {
      throw UsageError(fmt::format("the replay endpoint cannot be used: {}", found.why),
                       found.remedy);
    }
    return std::make_unique<ReplayEndpoint>(read_recording(config.file), config.parallel,
                                            config.replay_latency_scale);
  }
  if (config.kind == "openai") {
    return std::make_unique<OpenAiEndpoint>(config);
  }
  throw UsageError(unknown_kind(config));
}

Availability probe_endpoint(const EndpointConfig& config) {
  if (config.kind == "replay") {
    return probe_replay(config);
  }
  if (config.kind == "openai") {
    return probe_openai(config);
  }
  return Availability::no(unknown_kind(config), "");
}

} // namespace winnow::agents
