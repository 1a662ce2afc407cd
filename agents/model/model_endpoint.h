#pragma once

#include "agents/model/model_request.h"
#include "agents/money/price.h"
#include "agents/money/usage.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

struct ModelReply : tasks::ModelAnswer {
  enum class Status : std::uint8_t {
    Ok,
    Failed, ///< final: bad key, unknown model, no money, malformed answers, no retries left
    Cancelled,
    Exhausted, ///< a replay has no reply for this key
    Deferred,  ///< the reply will come in another way: the call stays open in the store
  };
  Status status = Status::Failed;
  std::string error; ///< Failed: the cause and what the user can do; never contains the key
  /// On top of `usage` and `dollars`. nullopt: the endpoint keeps no account of it.
  std::optional<EstimatedCost> estimated;
  /// The price behind `dollars`; nullopt: the endpoint sent `dollars` itself.
  std::optional<Price> price;
  /// What the endpoint does from now on, said once: "'user' is left out of requests, because ...".
  std::vector<std::string> notices;
};

/// Whether an endpoint works as expected, shown to users.
struct EndpointHealth {
  enum class State : std::uint8_t { Ok, Limited, Degraded, Down };
  State state = State::Ok;
  std::string why; ///< "HTTP 529 three times in a row, next try in 12 s"; empty when Ok
};

/// A source of replies to prompts. Any thread may call `start`, which returns at once. `done` runs
/// exactly once, on a thread of the endpoint, also after cancel_all().
class ModelEndpoint {
public:
  virtual ~ModelEndpoint() = default;
  virtual std::string_view kind() const = 0; ///< "replay", "chat", ...
  virtual void start(ModelRequest request, std::function<void(ModelReply)> done) = 0;
  virtual void cancel_all() = 0;
  virtual EndpointHealth health() const { return {}; } ///< from any thread
};

} // namespace winnow::agents
