#pragma once

#include "base/availability.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

struct Message {
  std::string role; ///< "system", "user", "assistant"
  std::string text;
};

struct ModelRequest {
  std::string key; ///< names the call within its run: "row_softmax/0/3"
  std::string model;
  std::vector<Message> messages;
  double temperature = -1;            ///< negative: not sent
  std::int64_t max_output_tokens = 0; ///< 0: not sent
};

struct Usage {
  std::int64_t prompt_tokens = 0; ///< including cached ones
  std::int64_t cached_tokens = 0;
  std::int64_t completion_tokens = 0; ///< including reasoning
  std::int64_t reasoning_tokens = 0;
};

struct ModelReply {
  enum class Status : std::uint8_t {
    Ok,
    Failed, ///< for good: bad key, unknown model, no money, malformed answers, retries used up
    Cancelled,
    Exhausted, ///< a replay has no reply for this key
  };
  Status status = Status::Failed;
  std::string text;
  std::string error;         ///< Failed: what and what to do; never contains the key
  std::string finish_reason; ///< "stop", "length", ...
  std::string model;         ///< as the endpoint named it
  Usage usage;
  std::optional<double> dollars; ///< nullopt: price unknown
  double seconds = 0;            ///< of the last attempt
  int attempts = 1;
};

/// Something that answers prompts. `start` may be called from any thread and returns at once;
/// `done` runs exactly once, on a thread of the endpoint's, also after cancel_all().
class ModelEndpoint {
public:
  virtual ~ModelEndpoint() = default;
  virtual std::string_view kind() const = 0; ///< "replay", "openai"
  virtual void start(ModelRequest request, std::function<void(ModelReply)> done) = 0;
  virtual void cancel_all() = 0;
};

/// An endpoint as configured ([endpoint] in a run's TOML).
struct EndpointConfig {
  std::string kind = "replay";
  std::string file; ///< replay: a recording (JSON lines)
  std::string base_url = "https://api.openai.com/v1";
  std::string model;
  /// openai: the variable that holds the key; empty: no key is sent. May be unset for localhost.
  std::string api_key_env = "OPENAI_API_KEY";
  int parallel = 4;             ///< calls in flight
  double timeout_seconds = 600; ///< a whole attempt
  double connect_timeout_seconds = 10;
  double stall_seconds = 60;       ///< without a byte, once the answer has begun
  double retry_base_seconds = 0.5; ///< the first wait before another attempt; doubles, with jitter
  int max_attempts = 4;
  double temperature = -1;
  std::int64_t max_output_tokens = 0;
  std::optional<double> dollars_per_million_input, dollars_per_million_output;
  double replay_latency_scale = 0; ///< replay: recorded latency times this
};

/// Throws UsageError for a config that cannot work (no key in the variable, no such file, bad URL).
std::unique_ptr<ModelEndpoint> make_endpoint(const EndpointConfig& config);
/// For `doctor`: whether it could be used, without calling it.
Availability probe_endpoint(const EndpointConfig& config);

} // namespace winnow::agents
