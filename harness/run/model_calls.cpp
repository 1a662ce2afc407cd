#include "harness/run/model_calls.h"

#include "base/text/number_text.h"
#include "harness/report/counted.h"
#include "harness/run/endpoints.h"
#include "search/role.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using agents::ModelReply;

// The endpoint retries by itself. After this many final failures in a row it counts as down.
constexpr int kFailuresInARow = 3;

std::size_t prompt_bytes(const agents::ModelRequest& request) {
  std::size_t bytes = 0;
  for (const agents::Message& message : request.messages) {
    bytes += message.text.size();
  }
  return bytes;
}

std::string in_words(const CallEstimate& estimate) {
  return counted(estimate.tokens, "token") +
         (estimate.dollars > 0 ? ", $" + number_text(estimate.dollars, 4) : "");
}

bool was_paid(const ModelReply& reply) {
  return reply.usage.tokens() > 0;
}

} // namespace

ModelCalls::ModelCalls(const RunLoopSetup& setup, std::shared_ptr<RunQueue> queue, StopSign& stop)
    : setup_(setup), queue_(std::move(queue)), stop_(stop), budget_(setup.config.limits) {
  const store::RunCosts costs = setup_.journal.store().run_costs(setup_.journal.run());
  budget_.add_unconfirmed(
      {costs.unconfirmed_sendings, costs.unconfirmed_tokens, costs.unconfirmed_dollars});
  for (const store::ModelCallRow& row :
       setup_.journal.store().pending_calls(setup_.journal.run())) {
    if (const ModelReply counted = reply_from_row(row); was_paid(counted)) {
      budget_.pay(row.key, counted);
    }
  }
}

ModelCalls::~ModelCalls() {
  cancel_all(); // an exception ends the run
}

void ModelCalls::cancel_all() {
  if (!calls_.empty()) {
    for (const RunModel& model : setup_.models) {
      model.endpoint.cancel_all();
    }
  }
}

void ModelCalls::count_stored(const store::ModelCallRow& call) {
  budget_.settle(call.key, reply_from_row(call));
}

int ModelCalls::free() const {
  const auto parallel = static_cast<std::int64_t>(setup_.config.endpoint.parallel);
  return static_cast<int>(
      std::max<std::int64_t>(parallel - static_cast<std::int64_t>(calls_.size()), 0));
}

std::optional<ModelCalls::Refusal> ModelCalls::reserve(const search::Ask& ask,
                                                       const agents::ModelRequest& request) {
  const RunModel& model = setup_.model_of(ask);
  const CallEstimate estimate = reservation(
      budget_.estimate(prompt_bytes(request), {model.price, model.config.max_output_tokens}),
      model.config);
  const auto limit = budget_.reserve(request.key, estimate);
  if (!limit) {
    return std::nullopt;
  }
  return Refusal{*limit, budget_.allows_one(estimate)
                             ? "is spent"
                             : "is less than one call may need: " + in_words(estimate)};
}

void ModelCalls::send(TaskState& state, const search::Ask& ask, const agents::ModelRequest& request,
                      const std::optional<search::Capacity>& decided_at) {
  const RunModel& model = setup_.model_of(ask);
  const bool bills = model.endpoint.kind() != "replay" && model.endpoint.kind() != "batch";
  const std::optional<CallEstimate> at_stake =
      bills ? std::optional(budget_.reserved(request.key)) : std::nullopt;
  store::RowId row = 0;
  commit(setup_.journal, state, [&]() -> std::vector<search::Event> {
    row = setup_.journal.begin_call(state.row, request, model.endpoint.kind(), at_stake);
    return decided_at ? std::vector<search::Event>{search::Decided{ask, *decided_at}}
                      : std::vector<search::Event>{};
  });
  calls_[request.key] = {&state, ask, request, row, at_stake};
  if (model.config.reuse) {
    if (auto reply = setup_.journal.recorded_reply(row)) {
      queue_->push(Reply{request.key, std::move(*reply)});
      return;
    }
  }
  setup_.journal.when_durable([&model, request, queue = queue_] {
    model.endpoint.start(request, [queue, key = request.key](ModelReply reply) {
      queue->push(Reply{key, std::move(reply)});
    });
  });
}

void ModelCalls::store(const Reply& reply) {
  const auto call = calls_.find(reply.key);
  for (const std::string& notice : reply.reply.notices) {
    setup_.journal.event("endpoint notice", {{"key", reply.key}, {"notice", notice}});
    setup_.progress.event(notice, Progress::Weight::Important);
  }
  if (call != calls_.end() && reply.reply.status == ModelReply::Status::Ok) {
    setup_.journal.finish_call(call->second.row, call->second.request, reply.reply);
  }
}

agents::EndpointHealth ModelCalls::health() const {
  agents::EndpointHealth worst;
  for (const RunModel& model : setup_.models) {
    if (const agents::EndpointHealth own = model.endpoint.health(); own.state > worst.state) {
      worst = own;
    }
  }
  return worst;
}

std::optional<ModelCalls::Answered> ModelCalls::finish(const Reply& event) {
  const auto it = calls_.find(event.key);
  if (it == calls_.end()) {
    return std::nullopt;
  }
  const Call call = std::move(it->second);
  calls_.erase(it);
  switch (event.reply.status) {
  case ModelReply::Status::Ok:
    budget_.settle(event.key, event.reply);
    failures_in_a_row_ = 0;
    return Answered{call.state, call.ask};
  case ModelReply::Status::Cancelled:
    cut_off(call, event.reply);
    break;
  // The reply may still come and cost: the budget keeps its reservation.
  case ModelReply::Status::Deferred:
    ++deferred_;
    // The store keeps no reservation, because this process did not send the call.
    setup_.journal.store().set_reservation(call.row, std::nullopt);
    break;
  case ModelReply::Status::Failed:
  case ModelReply::Status::Exhausted:
    fail(call, event.reply);
    break;
  }
  return std::nullopt;
}

/// The call stays open in the store, so that a resumed run sends it again.
void ModelCalls::fail(const Call& call, const ModelReply& reply) {
  keep_cost(call, reply);
  if (reply.status == ModelReply::Status::Exhausted) {
    unrecorded_ += search::role_with_operator(call.ask.op) == nullptr ? 1 : 0;
    give_up(call, "the recording has no reply to this call");
    return;
  }
  give_up(call, "the call failed: " + reply.error);
  stop_.note_trouble(fmt::format("call {} failed: {}", call.request.key, reply.error));
  ++failures_in_a_row_;
  const bool none_succeeded = budget_.spent().calls == 0;
  if (none_succeeded || failures_in_a_row_ >= kFailuresInARow) {
    stop_.stop(StopSign::Reason::Failure, stop_.trouble());
  }
}

/// Of a call that was cancelled.
void ModelCalls::cut_off(const Call& call, const ModelReply& reply) {
  if (!call.at_stake) {
    budget_.release(call.request.key);
  } else if (reply.estimated) {
    keep_cost(call, reply);
  } else {
    budget_.cut_off(call.request.key);
  }
}

/// Of a call that ended without an answer.
void ModelCalls::keep_cost(const Call& call, const ModelReply& reply) {
  if (was_paid(reply)) {
    budget_.pay(call.request.key, reply);
  } else {
    budget_.cut_off(call.request.key, reply.estimated.value_or(agents::EstimatedCost()));
  }
  if (was_paid(reply) || call.at_stake) {
    setup_.journal.end_unanswered(call.row, reply);
  }
}

/// Until the next session.
void ModelCalls::give_up(const Call& call, const std::string& why) {
  commit(setup_.journal, *call.state, [&]() -> std::vector<search::Event> {
    setup_.journal.event("call given up", {{"key", call.ask.key}, {"reason", why}});
    return {search::Unanswered{call.ask.key}};
  });
  setup_.progress.event(call.ask.key + ": " + why, Progress::Weight::Important);
}

} // namespace winnow::harness
