#pragma once

#include "harness/run/state/budget.h"
#include "harness/run/state/run_event.h"
#include "harness/run/state/run_setup.h"
#include "harness/run/state/stop_sign.h"
#include "harness/run/state/task_state.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace winnow::harness {

/// The calls of a run: keeps them within the limits, sends them, and stores each reply at once.
class ModelCalls {
public:
  /// Replies come through `queue`.
  ModelCalls(const RunLoopSetup& setup, std::shared_ptr<RunQueue> queue, StopSign& stop);
  ~ModelCalls();
  ModelCalls(const ModelCalls&) = delete; // the destructor cancels calls
  ModelCalls& operator=(const ModelCalls&) = delete;

  /// A call of an earlier session.
  void count_stored(const store::ModelCallRow& call);

  int free() const; ///< number of further calls that may be in flight
  struct Refusal {
    std::string limit; ///< "limits.calls = 5"
    std::string why;   ///< "is spent"
  };
  /// Reserves the cost of a call. If that could exceed a limit, reserves nothing.
  std::optional<Refusal> reserve(const search::Ask& ask, const agents::ModelRequest& request);
  /// Sends a call whose cost is reserved. `decided_at`: nullopt: the log has its
  /// decision.
  void send(TaskState& state, const search::Ask& ask, const agents::ModelRequest& request,
            const std::optional<search::Capacity>& decided_at);
  /// Stores a reply that has arrived: before it is used, and before other events are handled.
  void store(const Reply& reply);
  struct Answered {
    TaskState* state = nullptr;
    search::Ask ask;
  };
  /// Ends the call. The call, if the reply can be used.
  std::optional<Answered> finish(const Reply& reply);
  void cancel_all();

  bool empty() const { return calls_.empty(); }
  std::size_t size() const { return calls_.size(); } ///< in flight
  const Spend& spent() const { return budget_.spent(); }
  std::int64_t deferred() const { return deferred_; }
  std::int64_t unrecorded() const { return unrecorded_; }
  agents::EndpointHealth health() const; ///< of the endpoint in the worst state

private:
  struct Call {
    TaskState* state = nullptr;
    search::Ask ask;
    agents::ModelRequest request;
    store::RowId row = 0;
    /// What may be billed without an answer; nullopt: nothing.
    std::optional<CallEstimate> at_stake;
  };

  void fail(const Call& call, const agents::ModelReply& reply);
  void cut_off(const Call& call, const agents::ModelReply& reply);
  void keep_cost(const Call& call, const agents::ModelReply& reply);
  void give_up(const Call& call, const std::string& why);

  const RunLoopSetup& setup_;
  std::shared_ptr<RunQueue> queue_; ///< shared with callbacks that may outlive this object
  StopSign& stop_;
  Budget budget_;
  std::map<std::string, Call> calls_; ///< in flight, by key
  std::int64_t deferred_ = 0;         ///< number of calls whose replies come in another way
  std::int64_t unrecorded_ = 0;       ///< number of calls for which the recording has no reply
  int failures_in_a_row_ = 0;
};

} // namespace winnow::harness
