#pragma once

#include "agents/model_endpoint.h"
#include "base/availability.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace winnow::agents {

/// An endpoint as configured ([endpoint] in a run's TOML). No secret is ever in it.
struct EndpointConfig {
  /// A name of providers.h, which stands for a kind and, if none is given, a base URL; may be
  /// empty.
  std::string provider;
  /// "replay", or a wire format: "chat", "responses", "anthropic", "gemini".
  std::string kind = "replay";
  std::string file;     ///< replay: a recording (JSON lines) or a store
  std::string run;      ///< replay from a store: the run's name; empty: the newest
  bool reuse = false;   ///< requests that the run's store has a reply to are not sent
  std::string base_url; ///< empty: the provider's own
  std::string model;
  /// Where the key comes from; see keys/key_source.h. The variable's name is empty for the
  /// provider's usual one, and a key may be missing for a server on this machine.
  std::string api_key_env;
  std::string api_key_cmd;
  std::string api_key_file;

  bool stream = true;
  bool structured_output = false; ///< ask for JSON that keeps to a schema
  std::string effort;             ///< "low", "medium", "high", ...; empty: not sent
  double temperature = -1;
  std::int64_t max_output_tokens = 0;
  std::string extra_body;                 ///< a JSON object merged over each request
  std::vector<std::string> extra_headers; ///< "Name: value"

  int parallel = 4;                                            ///< calls in flight
  std::int64_t requests_per_minute = 0, tokens_per_minute = 0; ///< 0: no limit
  double connect_timeout_seconds = 10;
  double first_token_seconds = 300; ///< until the first token of a streamed answer
  double stall_seconds = 60;        ///< without a byte, once the answer has begun
  double timeout_seconds = 600;     ///< a whole attempt
  double retry_base_seconds = 0.5;  ///< the first wait before another attempt; doubles, with jitter
  int max_attempts = 4;
  double outage_seconds = 1800;              ///< how long an endpoint that is down is waited for
  std::size_t max_answer_bytes = 64U << 20U; ///< of HTTP's body; the rest is not read
  std::string proxy;                         ///< empty: from the environment, as libcurl does
  std::string ca_file;                       ///< PEM; empty: the system's

  std::string prices; ///< a file like configs/prices.toml; empty: the user's, then the shipped one
  std::optional<double> dollars_per_million_input, dollars_per_million_output;
  double replay_latency_scale = 0; ///< replay: recorded latency times this
};

/// Throws UsageError for a config that cannot work (no key in the variable, no such file, bad URL).
std::unique_ptr<ModelEndpoint> make_endpoint(const EndpointConfig& config);
/// For `doctor`: whether it could be used, without calling it.
Availability probe_endpoint(const EndpointConfig& config);

} // namespace winnow::agents
