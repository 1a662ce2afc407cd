#include "agents/reply.h"
#include "evaluators/evaluation/profile.h"
#include "harness/config/duration.h"
#include "harness/run/promotion.h"
#include "harness/run/run_loop.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using agents::ModelReply;

// The endpoint retries by itself. After this many final failures in a row it counts as down.
constexpr int kFailuresInARow = 3;
constexpr std::chrono::milliseconds kDrainWait{1000};

agents::Attempt shown(const PastAttempt& attempt, std::size_t number) {
  return {static_cast<int>(number), attempt.text, attempt.evaluation, {}};
}

std::vector<profiling::ShapeProfile> profiles_of(const tasks::Evaluation& evaluation) {
  std::vector<profiling::ShapeProfile> profiles;
  for (evaluators::ProfiledShape& shape : evaluators::profile_of(evaluation)) {
    profiles.push_back(std::move(shape.shape));
  }
  return profiles;
}

/// The limiters of an evaluation, and their changes from its parent.
std::string limits_of(const tasks::Evaluation& evaluation, const tasks::Evaluation& parent) {
  const std::vector<profiling::ShapeProfile> profiles = profiles_of(evaluation);
  const std::string& code = evaluation.build.machine_code_digest;
  return profiles.empty() ? ""
                          : profiling::limiter_feedback(
                                profiles, profiles_of(parent),
                                !code.empty() && code == parent.build.machine_code_digest);
}

/// The parent of an attempt: the best attempt before it, otherwise the baseline.
const tasks::Evaluation& parent_of(const TaskHistory& history, const Chain& chain,
                                   std::size_t attempt) {
  const PastAttempt* parent = &history.baseline;
  for (std::size_t i = 0; i < attempt; ++i) {
    const PastAttempt& earlier = chain.attempts[i];
    if (is_contender(earlier.evaluation) &&
        earlier.evaluation.speedup > parent->evaluation.speedup) {
      parent = &earlier;
    }
  }
  return parent->evaluation;
}

std::size_t prompt_bytes(const agents::ModelRequest& request) {
  std::size_t bytes = 0;
  for (const agents::Message& message : request.messages) {
    bytes += message.text.size();
  }
  return bytes;
}

bool was_paid(const ModelReply& reply) {
  return reply.usage.prompt_tokens + reply.usage.completion_tokens > 0;
}

} // namespace

void RunLoop::dispatch() {
  // A recorded reply may be judged at once, which allows the next proposal. So repeats until no
  // call was started.
  bool moved = true;
  while (moved && stop_ == Stop::No) {
    moved = false;
    refused_.clear();
    for (auto& [state, proposal] : open_proposals()) {
      moved = start(*state, proposal) || moved;
      take_arrived(); // sending many calls takes a while
    }
  }
}

std::vector<std::pair<RunLoop::TaskState*, Proposal>> RunLoop::open_proposals() {
  std::vector<std::pair<TaskState*, Proposal>> open;
  for (TaskState& state : tasks_) {
    if (!state.searchable) {
      continue;
    }
    for (const Proposal& proposal : setup_.strategy.next(state.history)) {
      if (!state.active.contains(call_key(state.task->name, proposal))) {
        open.emplace_back(&state, proposal);
      }
    }
  }
  // Divides a limit on calls fairly: the first steps of all tasks come before the second step of
  // any.
  std::stable_sort(open.begin(), open.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second.step, a.second.chain) < std::tie(b.second.step, b.second.chain);
  });
  return open;
}

bool RunLoop::start(TaskState& state, const Proposal& proposal) {
  const std::string key = call_key(state.task->name, proposal);
  if (const auto recorded = recorded_.find(key); recorded != recorded_.end()) {
    state.active.insert(key);
    accept_reply(state, proposal, reply_from_row(recorded->second));
    return true;
  }
  if (wall_time_spent()) {
    refused_ = "limits.wall_time = " + format_duration(setup_.config.limits.wall_time);
    return false;
  }
  if (calls_.size() >= static_cast<std::size_t>(setup_.config.endpoint.parallel)) {
    return false;
  }
  const agents::ModelRequest request = request_for(state, proposal);
  const CallEstimate estimate = budget_.estimate(prompt_bytes(request));
  if (auto limit = budget_.reserve(key, estimate)) {
    refused_ = *limit;
    return false;
  }
  state.active.insert(key);
  send(state, proposal, request, estimate);
  return true;
}

void RunLoop::send(TaskState& state, const Proposal& proposal, const agents::ModelRequest& request,
                   const CallEstimate& estimate) {
  begin_session();
  const bool bills = setup_.endpoint.kind() != "replay" && setup_.endpoint.kind() != "batch";
  const std::optional<CallEstimate> at_stake = bills ? std::optional(estimate) : std::nullopt;
  const store::RowId row =
      setup_.journal.begin_call(state.row, request, setup_.endpoint.kind(), at_stake);
  calls_[request.key] = {&state, proposal, request, row, at_stake};
  if (setup_.config.endpoint.reuse) {
    if (auto reply = setup_.journal.recorded_reply(row)) {
      queue_->push(Reply{request.key, std::move(*reply)});
      return;
    }
  }
  setup_.endpoint.start(request, [queue = queue_, key = request.key](ModelReply reply) {
    queue->push(Reply{key, std::move(reply)});
  });
}

agents::ModelRequest RunLoop::request_for(const TaskState& state, const Proposal& proposal) const {
  agents::ProposalContext context;
  context.task = state.task;
  context.facts = setup_.facts;
  context.device = setup_.device_kind;
  context.device_name = setup_.device_name;
  context.structured = setup_.config.endpoint.structured_output;
  context.baseline = shown(state.history.baseline, 0);
  if (const Chain* chain = state.history.find(proposal.chain)) {
    for (std::size_t i = 0; i < chain->attempts.size(); ++i) {
      context.history.push_back(shown(chain->attempts[i], i + 1));
    }
    const auto with_limits = [&](std::size_t attempt) {
      agents::Attempt told = context.history[attempt];
      told.limits = limits_of(told.evaluation, parent_of(state.history, *chain, attempt));
      return told;
    };
    if (proposal.best) {
      context.best = with_limits(*proposal.best);
    }
    if (proposal.previous) {
      context.previous = with_limits(*proposal.previous);
    }
  }
  agents::ModelRequest request;
  request.key = call_key(state.task->name, proposal);
  request.model = setup_.config.endpoint.model;
  request.messages = setup_.prompts(context);
  request.temperature = setup_.config.endpoint.temperature;
  request.max_output_tokens = setup_.config.endpoint.max_output_tokens;
  request.effort = setup_.config.endpoint.effort;
  if (context.structured) {
    request.schema = agents::kernel_reply_schema();
  }
  return request;
}

std::optional<RunLoop::Event> RunLoop::next_event(std::chrono::milliseconds wait) {
  if (arrived_.empty()) {
    if (auto event = queue_->pop(wait)) {
      take(std::move(*event));
    }
  }
  take_arrived();
  if (arrived_.empty()) {
    return std::nullopt;
  }
  Event event = std::move(arrived_.front());
  arrived_.pop_front();
  return event;
}

void RunLoop::take_arrived() {
  while (auto event = queue_->pop(std::chrono::milliseconds{0})) {
    take(std::move(*event));
  }
}

// Stores a reply at once: before it is used, and before other events are handled.
void RunLoop::take(Event event) {
  if (const auto* reply = std::get_if<Reply>(&event)) {
    const auto call = calls_.find(reply->key);
    if (call != calls_.end() && reply->reply.status == ModelReply::Status::Ok) {
      setup_.journal.finish_call(call->second.row, call->second.request, setup_.endpoint.kind(),
                                 reply->reply);
    }
  }
  arrived_.push_back(std::move(event));
}

void RunLoop::handle(Reply& event) {
  const auto it = calls_.find(event.key);
  if (it == calls_.end()) {
    return;
  }
  const Call call = std::move(it->second);
  calls_.erase(it);
  const ModelReply& reply = event.reply;
  switch (reply.status) {
  case ModelReply::Status::Ok:
    budget_.settle(event.key, reply);
    failures_in_a_row_ = 0;
    if (stop_ == Stop::No) { // otherwise the resumed run takes the reply from the store
      accept_reply(*call.state, call.proposal, reply);
    }
    return;
  case ModelReply::Status::Cancelled:
    call.at_stake ? budget_.cut_off(event.key) : budget_.release(event.key);
    return;
  // The reply may still come and cost: the budget keeps its reservation.
  case ModelReply::Status::Deferred:
    ++deferred_;
    // The store keeps no reservation, because this process did not send the call.
    setup_.journal.set_reservation(call.row, std::nullopt);
    return;
  case ModelReply::Status::Failed:
  case ModelReply::Status::Exhausted:
    handle_failure(call, reply);
    return;
  }
}

void RunLoop::release(const Call& call) {
  budget_.release(call.request.key);
  if (call.at_stake) {
    setup_.journal.set_reservation(call.row, std::nullopt);
  }
}

// The call stays open in the store, so that a resumed run sends it again.
void RunLoop::handle_failure(const Call& call, const ModelReply& reply) {
  if (was_paid(reply)) {
    budget_.settle(call.request.key, reply);
    const double at_most = call.at_stake ? call.at_stake->dollars : 0;
    setup_.journal.set_reservation(
        call.row, CallEstimate{reply.usage.prompt_tokens + reply.usage.completion_tokens,
                               reply.dollars.value_or(at_most)});
  } else {
    release(call);
  }
  if (reply.status == ModelReply::Status::Exhausted) {
    ++unrecorded_;
    end_chain(*call.state, call.proposal, "the recording has no reply to it");
    return;
  }
  end_chain(*call.state, call.proposal, "the call failed: " + reply.error);
  trouble_ = fmt::format("call {} failed: {}", call.request.key, reply.error);
  ++failures_in_a_row_;
  const bool none_succeeded = budget_.spent().calls == 0;
  if (none_succeeded || failures_in_a_row_ >= kFailuresInARow) {
    stop(Stop::Failure, trouble_);
  }
}

void RunLoop::end_chain(TaskState& state, const Proposal& proposal, const std::string& why) {
  const std::string key = call_key(state.task->name, proposal);
  state.history.open(proposal.chain).ended = true;
  state.active.erase(key);
  setup_.journal.event("chain ended", {{"key", key}, {"reason", why}});
  setup_.progress.event(key + ": " + why, Progress::Weight::Important);
}

void RunLoop::drain() {
  if (!calls_.empty()) {
    setup_.endpoint.cancel_all();
  }
  // Waits until every call has ended, at least with Cancelled. Replies that come meanwhile are
  // kept.
  for (;;) {
    auto event = next_event(calls_.empty() ? std::chrono::milliseconds{0} : kDrainWait);
    if (event) {
      std::visit([this](auto& what) { handle(what); }, *event);
    } else if (calls_.empty()) {
      return;
    }
  }
}

} // namespace winnow::harness
