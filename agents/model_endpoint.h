#pragma once

#include "agents/model_request.h"
#include "agents/money/price.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace winnow::agents {

struct ModelReply {
  enum class Status : std::uint8_t {
    Ok,
    Failed, ///< for good: bad key, unknown model, no money, malformed answers, retries used up
    Cancelled,
    Exhausted, ///< a replay has no reply for this key
    Deferred,  ///< will come from elsewhere: the call stays open in the store
  };
  Status status = Status::Failed;
  std::string text;
  std::string error; ///< Failed: what and what to do; never contains the key
  /// Provider's words become ours: "stop", "length", "content_filter" (refusals too), "tool_calls";
  /// others stay as they came.
  std::string finish_reason;
  std::string model;             ///< as the endpoint named it
  std::string request_id;        ///< the provider's, for its support
  Usage usage;                   ///< of all attempts that the endpoint counted
  std::optional<double> dollars; ///< nullopt: price unknown
  std::optional<Price> price; ///< what `dollars` was computed with; nullopt: the endpoint said it
  double seconds = 0;         ///< of the last attempt
  std::optional<double> first_token_seconds; ///< of the last attempt, when it was streamed
  int attempts = 1;
  bool repaired = false; ///< the first reply broke its schema, and a second one was asked for
  std::optional<std::int64_t> served_from; ///< the recorded call that answered; nothing was paid
};

/// Whether an endpoint does what it should, for people who watch.
struct EndpointHealth {
  enum class State : std::uint8_t { Ok, Limited, Degraded, Down };
  State state = State::Ok;
  std::string why; ///< "HTTP 529 three times in a row, next try in 12 s"; empty when Ok
};

/// Something that answers prompts. `start` may be called from any thread and returns at once;
/// `done` runs exactly once, on a thread of the endpoint's, also after cancel_all().
class ModelEndpoint {
public:
  virtual ~ModelEndpoint() = default;
  virtual std::string_view kind() const = 0; ///< "replay", "chat", ...
  virtual void start(ModelRequest request, std::function<void(ModelReply)> done) = 0;
  virtual void cancel_all() = 0;
  virtual EndpointHealth health() const { return {}; } ///< from any thread
};

} // namespace winnow::agents
