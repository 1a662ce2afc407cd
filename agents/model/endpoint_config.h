#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace winnow::agents {

/// An endpoint as configured: [endpoint] in a run's TOML file. Never contains a secret.
struct EndpointConfig {
  /// A name from providers.h, or empty. The name sets `kind` and, if `base_url` is empty, also
  /// `base_url`.
  std::string provider;
  /// "replay", "agent", or a wire format: "chat", "responses", "anthropic", "gemini".
  std::string kind = "replay";
  std::string file;   ///< replay: a recording (JSON lines) or a store
  std::string run;    ///< replay from a store: the run's name; empty: the newest
  bool reuse = false; ///< do not send a request again if the run's store already has a reply to it
  std::string base_url; ///< empty: the provider's default
  std::string model;
  /// Where the key comes from, see keys/key_source.h. If `api_key_env` is empty, the provider's
  /// usual variables are used. A server on this machine may need no key.
  std::string api_key_env;
  std::string api_key_cmd;
  std::string api_key_file;

  std::string agent;    ///< agent: a name in configs/agents.toml
  int evaluations = 20; ///< agent: that one session may ask of the judge
  std::chrono::milliseconds session_time = std::chrono::minutes(30);
  double dollars_per_session = 0; ///< agent: a limit where it takes one; 0: no limit

  bool stream = true;
  bool structured_output = false; ///< ask for JSON that follows a schema
  std::string effort;             ///< "low", "medium", "high", ...; empty: not sent
  double temperature = -1;
  std::int64_t max_output_tokens = 0;
  /// A JSON object that renames, changes or leaves out members of each request (wire/members.h).
  std::string members;
  std::string extra_body;                 ///< a JSON object merged over each request
  std::vector<std::string> extra_headers; ///< "Name: value"

  int parallel = 4;                                            ///< calls in flight
  std::int64_t requests_per_minute = 0, tokens_per_minute = 0; ///< 0: no limit
  double connect_timeout_seconds = 10;
  double first_token_seconds = 300; ///< maximum wait for the first token of a streamed answer
  double stall_seconds = 60;        ///< maximum pause between two bytes of an answer
  double timeout_seconds = 600;     ///< maximum time of one attempt
  /// The wait before the second attempt; doubles with each further one, with jitter.
  double retry_base_seconds = 0.5;
  int max_attempts = 4;
  double outage_seconds = 1800;              ///< maximum wait for an endpoint that is down
  std::size_t max_answer_bytes = 64U << 20U; ///< limit on the HTTP body; the rest is not read
  std::string proxy;   ///< empty: libcurl takes the proxy from the environment
  std::string ca_file; ///< PEM; empty: the system's certificates

  std::string prices; ///< a file like configs/prices.toml; empty: the user's, then the shipped one
  std::optional<double> dollars_per_million_input, dollars_per_million_output;
  double replay_latency_scale = 0; ///< replay: multiplies the recorded latencies
};

} // namespace winnow::agents
