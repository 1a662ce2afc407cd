#include "agents/reply.h"
#include "evaluators/evaluation/profile.h"
#include "harness/config/duration.h"
#include "harness/run/prompt_facts.h"
#include "harness/run/run_loop.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using agents::ModelReply;

// The endpoint retries by itself. After this many final failures in a row it counts as down.
constexpr int kFailuresInARow = 3;
constexpr std::chrono::milliseconds kDrainWait{1000};

std::vector<profiling::ShapeProfile> profiles_of(const tasks::Evaluation& evaluation) {
  std::vector<profiling::ShapeProfile> profiles;
  for (evaluators::ProfiledShape& shape : evaluators::profile_of(evaluation)) {
    profiles.push_back(std::move(shape.shape));
  }
  return profiles;
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
  // A recorded reply may be judged at once, which allows the next decision. So repeats until
  // nothing was started.
  bool moved = true;
  while (moved && stop_ == Stop::No) {
    moved = false;
    refused_.clear();
    for (TaskState* state : fewest_asks_first()) {
      moved = advance(*state) || moved;
      take_arrived(); // sending many calls takes a while
    }
  }
}

/// Divides a limit on calls fairly: the first calls of all tasks come before the second call of
/// any.
std::vector<RunLoop::TaskState*> RunLoop::fewest_asks_first() {
  std::vector<TaskState*> order;
  for (TaskState& state : tasks_) {
    order.push_back(&state);
  }
  std::stable_sort(order.begin(), order.end(), [](const TaskState* a, const TaskState* b) {
    return a->search->asks() < b->search->asks();
  });
  return order;
}

/// Carries out what the search decides: all evaluations, and at most one call. False if no call was
/// started.
bool RunLoop::advance(TaskState& state) {
  if (state.baseline == 0 && !setup_.is_finished) {
    add_first_kernels(state);
  }
  decide_evaluations(state);
  if (!state.unsent.empty()) {
    const search::Ask ask = state.unsent.front();
    if (!start(state, ask, true)) {
      return false;
    }
    state.unsent.erase(state.unsent.begin());
    return true;
  }
  const auto action = state.search->decide({free_calls()});
  const auto* ask = action ? std::get_if<search::Ask>(&*action) : nullptr;
  if (ask == nullptr) {
    tell_why_done(state);
  }
  return ask != nullptr && start(state, *ask, false);
}

void RunLoop::tell_why_done(TaskState& state) {
  const std::string why = state.search->why_done();
  if (!why.empty() && !state.is_told_done) {
    state.is_told_done = true;
    setup_.progress.event(state.task->name + ": the search is over: " + why,
                          Progress::Weight::Important);
  }
}

int RunLoop::free_calls() const {
  const auto parallel = static_cast<std::int64_t>(setup_.config.endpoint.parallel);
  return static_cast<int>(
      std::max<std::int64_t>(parallel - static_cast<std::int64_t>(calls_.size()), 0));
}

bool RunLoop::start(TaskState& state, const search::Ask& ask, bool is_decided) {
  if (wall_time_spent()) {
    refused_ = "limits.wall_time = " + format_duration(setup_.config.limits.wall_time);
    return false;
  }
  if (free_calls() == 0) {
    return false;
  }
  const agents::ModelRequest request = request_for(state, ask);
  const CallEstimate estimate = budget_.estimate(prompt_bytes(request));
  if (auto limit = budget_.reserve(ask.key, estimate)) {
    refused_ = *limit;
    return false;
  }
  send(state, ask, request, estimate, is_decided);
  return true;
}

void RunLoop::send(TaskState& state, const search::Ask& ask, const agents::ModelRequest& request,
                   const CallEstimate& estimate, bool is_decided) {
  begin_session();
  const bool bills = setup_.endpoint.kind() != "replay" && setup_.endpoint.kind() != "batch";
  const std::optional<CallEstimate> at_stake = bills ? std::optional(estimate) : std::nullopt;
  const search::Capacity capacity{free_calls()};
  store::RowId row = 0;
  commit(state, [&]() -> std::vector<search::Event> {
    row = setup_.journal.begin_call(state.row, request, setup_.endpoint.kind(), at_stake);
    return is_decided ? std::vector<search::Event>{}
                      : std::vector<search::Event>{search::Decided{ask, capacity}};
  });
  calls_[request.key] = {&state, ask, request, row, at_stake};
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

agents::ModelRequest RunLoop::request_for(const TaskState& state, const search::Ask& ask) {
  agents::ProposalContext context;
  context.task = state.task.get();
  context.facts = setup_.facts;
  context.device = setup_.device_kind;
  context.device_name = setup_.device_name;
  context.structured = setup_.config.endpoint.structured_output;
  context.variants = setup_.config.max_variants;
  context.baseline = attempt({state.baseline, 0}, false);
  add_prompt_facts(context);
  context.op = ask.op;
  const auto card_of = [&](store::RowId candidate) {
    return search::Card{candidate, state.search->find(candidate)->number};
  };
  if (ask.op != "improve" && ask.op != "seed") {
    context.parent = attempt(card_of(ask.parents.front()), true);
  }
  if (ask.second) {
    context.second = attempt(*ask.second, true);
  }
  context.older = ask.older;
  for (const search::Card& card : ask.history) {
    context.history.push_back(attempt(card, false));
  }
  if (ask.best) {
    context.best = attempt(*ask.best, true);
  }
  if (ask.previous) {
    context.previous = attempt(*ask.previous, true);
  }
  if (context.parent || context.best) {
    const store::RowId shown = context.parent ? ask.parents.front() : ask.best->candidate;
    context.surface = surface_text(setup_.journal.store().trials(shown), shelf_.at(shown).text);
  }
  agents::ModelRequest request;
  request.key = ask.key;
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

agents::Attempt RunLoop::attempt(const search::Card& card, bool with_limits) {
  const ShelvedCandidate& candidate = shelf_.at(card.candidate);
  agents::Attempt shown{card.number, candidate.text, candidate.evaluation, {}};
  if (with_limits) {
    shown.limits = limits_of(card.candidate);
  }
  return shown;
}

/// The limiters of a candidate, and their changes from the nearest ancestor that is correct.
std::string RunLoop::limits_of(store::RowId candidate) {
  const ShelvedCandidate own = shelf_.at(candidate);
  const std::vector<profiling::ShapeProfile> profiles = profiles_of(own.evaluation);
  if (profiles.empty()) {
    return "";
  }
  tasks::Evaluation parent;
  for (store::RowId id = own.parent; id != 0 && parent.verdict != tasks::Verdict::Correct;) {
    const ShelvedCandidate& ancestor = shelf_.at(id);
    parent = ancestor.evaluation;
    id = ancestor.parent;
  }
  const std::string& code = own.evaluation.build.machine_code_digest;
  return profiling::limiter_feedback(profiles, profiles_of(parent),
                                     !code.empty() && code == parent.build.machine_code_digest) +
         launch_lines(own.evaluation);
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
      accept_reply(*call.state, call.ask, reply);
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
    give_up(*call.state, call.ask, "the recording has no reply to this call");
    return;
  }
  give_up(*call.state, call.ask, "the call failed: " + reply.error);
  trouble_ = fmt::format("call {} failed: {}", call.request.key, reply.error);
  ++failures_in_a_row_;
  const bool none_succeeded = budget_.spent().calls == 0;
  if (none_succeeded || failures_in_a_row_ >= kFailuresInARow) {
    stop(Stop::Failure, trouble_);
  }
}

/// Until the next session.
void RunLoop::give_up(TaskState& state, const search::Ask& ask, const std::string& why) {
  commit(state, [&]() -> std::vector<search::Event> {
    setup_.journal.event("call given up", {{"key", ask.key}, {"reason", why}});
    return {search::Unanswered{ask.key}};
  });
  setup_.progress.event(ask.key + ": " + why, Progress::Weight::Important);
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
