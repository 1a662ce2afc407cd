#include "harness/run/run_loop.h"

#include "harness/config/duration.h"
#include "harness/report/counted.h"
#include "harness/run/run_restore.h"
#include "search/role.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

// Interval of updates to the status line while nothing else happens.
constexpr std::chrono::milliseconds kTick{500};
constexpr std::chrono::milliseconds kDrainWait{1000};
// A killed session loses so much of its time at most.
constexpr std::chrono::seconds kKeepTimeEvery{10};
// A kill costs the replies of one batch at most, and a batch takes about as long as a commit.
constexpr int kMostInBatch = 64;

std::string_view run_status(RunOutcome::End end) {
  switch (end) {
  case RunOutcome::End::Finished:
    return "finished";
  case RunOutcome::End::BudgetSpent:
    return "stopped by budget";
  case RunOutcome::End::Interrupted:
    return "interrupted";
  case RunOutcome::End::Failed:
    return "failed";
  case RunOutcome::End::Waiting:
  case RunOutcome::End::RecordingSpent:
    return "waiting for replies";
  }
  return "failed";
}

} // namespace

RunLoop::RunLoop(RunLoopSetup setup)
    : setup_(std::move(setup)),
      clock_(setup_.now, setup_.elapsed_before, setup_.config.limits.wall_time),
      queue_(std::make_shared<RunQueue>()), goals_(setup_),
      shelf_(setup_.journal.store(), setup_.config.endpoint.parallel),
      tally_(setup_, clock_, stop_), prompts_(setup_, shelf_), intake_(setup_, shelf_, tally_),
      roles_(setup_, shelf_, tally_), calls_(setup_, queue_, stop_),
      judgements_(setup_, queue_, clock_, stop_, shelf_, tally_) {}

void RunLoop::interrupt() {
  queue_->push(Interruption{});
}

RunOutcome RunLoop::run() {
  restore();
  while (step()) {
  }
  return wind_up();
}

/// Called when there is something to do. Until then a finished run keeps its status and its end.
void RunLoop::begin_session() {
  if (!session_begun_) {
    session_begun_ = true;
    kept_time_ = clock_.elapsed();
    setup_.journal.store().set_run_status(setup_.journal.run(), "running");
    setup_.journal.event("session started", {{"device", setup_.device_kind}});
    for (TaskState& state : tasks_) {
      if (state.is_resumed) {
        setup_.journal.log(state.row, search::Resumed{}); // the search has applied it
      }
    }
  }
}

void RunLoop::restore() {
  tasks_ = restored_tasks(setup_, shelf_, tally_);
  if (!setup_.is_finished) {
    begin_session();
  }
  for (const UnusedReply& unused : restored_replies(setup_, tasks_, calls_, tally_)) {
    accept(*unused.state, unused.ask, unused.reply);
  }
  for (TaskState& state : tasks_) {
    for (const search::Evaluate& evaluate : std::exchange(state.unjudged, {})) {
      begin_session();
      judgements_.submit(state, evaluate);
    }
    roles_.follow(state);
  }
}

/// While nothing is judged, no other event has the time.
void RunLoop::keep_time() {
  if (session_begun_ && clock_.elapsed() >= kept_time_ + kKeepTimeEvery) {
    kept_time_ = clock_.elapsed();
    setup_.journal.event("goes on", {{kElapsedSeconds, seconds(kept_time_)}});
  }
}

bool RunLoop::step() {
  dispatch();
  show_progress();
  keep_time();
  take_arrived({});
  if (stop_.is_up() || (calls_.empty() && judgements_.empty() && arrived_.empty())) {
    return false;
  }
  if (clock_.is_spent()) {
    stop_.stop(StopSign::Reason::WallTime,
               "limits.wall_time = " + format_duration(setup_.config.limits.wall_time) +
                   " is spent");
    return false;
  }
  if (await_event(clock_.next_wait(kTick))) {
    setup_.journal.batch([this] { handle_arrived(); });
  }
  return true;
}

/// Handles the events that have arrived, each as if it had come alone. Calls and evaluations begin
/// after the commit.
void RunLoop::handle_arrived() {
  for (int i = 0; i < kMostInBatch && !arrived_.empty() && !stop_.is_up(); ++i) {
    handle_first();
    for (TaskState& state : tasks_) {
      roles_.follow(state);
    }
    dispatch();
  }
}

void RunLoop::handle_first() {
  RunEvent event = std::move(arrived_.front());
  arrived_.pop_front();
  std::visit([this](auto& what) { handle(what); }, event);
}

void RunLoop::dispatch() {
  // A recorded reply may be judged at once, which allows the next decision. So repeats until
  // nothing was started.
  bool moved = true;
  while (moved && !stop_.is_up()) {
    moved = false;
    refused_.reset();
    for (TaskState* state : most_urgent_first()) {
      moved = advance(*state) || moved;
      take_arrived({}); // sending many calls takes a while
    }
    moved = goals_.share(tasks_) || moved;
  }
}

/// Tasks with a candidate that waits for a role come first: the role's call is short, and a device
/// may be idle until then. Otherwise a limit on calls is divided fairly: the first calls of all
/// tasks come before the second call of any.
std::vector<TaskState*> RunLoop::most_urgent_first() {
  std::vector<TaskState*> order;
  for (TaskState& state : tasks_) {
    order.push_back(&state);
  }
  std::stable_sort(order.begin(), order.end(), [](const TaskState* a, const TaskState* b) {
    return a->search->asks() < b->search->asks();
  });
  std::stable_partition(order.begin(), order.end(),
                        [](const TaskState* state) { return state->search->is_held_up(); });
  return order;
}

/// Carries out what the search decides: all evaluations, and at most one call. False if no call was
/// started.
bool RunLoop::advance(TaskState& state) {
  if (!state.has_first_kernels && !setup_.is_finished) {
    intake_.add_first_kernels(state);
  }
  decide_evaluations(state);
  goals_.look_at(state);
  if (!state.unsent.empty()) {
    const search::Ask ask = state.unsent.front();
    if (!start(state, ask, true)) {
      return false;
    }
    state.unsent.erase(state.unsent.begin());
    return true;
  }
  const auto action = state.search->decide(capacity());
  const auto* ask = action ? std::get_if<search::Ask>(&*action) : nullptr;
  if (ask == nullptr) {
    tell_why_done(state);
  }
  return ask != nullptr && start(state, *ask, false);
}

search::Capacity RunLoop::capacity() const {
  constexpr int kOfEachDevice = 2; // one runs, and one is compiled meanwhile
  const int begun = static_cast<int>(judgements_.size());
  return {calls_.free(), std::max(kOfEachDevice * setup_.devices - begun, 0)};
}

void RunLoop::decide_evaluations(TaskState& state) {
  for (;;) {
    search::Capacity no_calls = capacity();
    no_calls.asks = 0;
    const auto action = state.search->decide(no_calls);
    if (!action) {
      return;
    }
    begin_session();
    commit(setup_.journal, state, [&]() -> std::vector<search::Event> {
      return {search::Decided{*action, no_calls}};
    });
    judgements_.submit(state, std::get<search::Evaluate>(*action));
  }
}

bool RunLoop::start(TaskState& state, const search::Ask& ask, bool is_decided) {
  const bool is_optional = search::role_with_operator(ask.op) != nullptr;
  const auto decided_at = is_decided ? std::nullopt : std::optional(capacity());
  if (!may_start()) {
    if (is_optional && calls_.free() > 0 && !clock_.is_spent()) {
      roles_.skip(state, ask, decided_at, "the rest of limits.wall_time is kept for judging");
      return true;
    }
    return false;
  }
  const agents::ModelRequest request = prompts_.request_for(state, ask);
  if (auto refusal = calls_.reserve(ask, request)) {
    if (is_optional) {
      roles_.skip(state, ask, decided_at, refusal->limit + " " + refusal->why);
      return true;
    }
    refused_ = std::move(refusal);
    return false;
  }
  begin_session();
  calls_.send(state, ask, request, decided_at);
  return true;
}

/// Whether a call may begin now, whatever its price.
bool RunLoop::may_start() {
  if (clock_.is_spent()) {
    refused_ = {"limits.wall_time = " + format_duration(setup_.config.limits.wall_time),
                "is spent"};
    return false;
  }
  if (!clock_.is_in_reserve()) {
    return calls_.free() > 0;
  }
  if (!is_told_reserve_) {
    is_told_reserve_ = true;
    setup_.progress.event(
        fmt::format("limits.wall_time: the last {} % are kept for judging and the final",
                    RunClock::kReservePercent),
        Progress::Weight::Important);
  }
  return false;
}

void RunLoop::tell_why_done(TaskState& state) {
  const std::string why = state.search->why_done();
  if (!why.empty() && !state.is_told_done) {
    state.is_told_done = true;
    setup_.progress.event(state.task->name + ": the search is over: " + why,
                          Progress::Weight::Important);
  }
}

/// Whether an event has arrived when `wait` is over.
bool RunLoop::await_event(std::chrono::milliseconds wait) {
  take_arrived(arrived_.empty() ? wait : std::chrono::milliseconds{0});
  return !arrived_.empty();
}

/// Stores the replies among the events that come within `wait`, with one commit.
void RunLoop::take_arrived(std::chrono::milliseconds wait) {
  std::vector<RunEvent> events;
  for (auto event = queue_->pop(wait); event; event = queue_->pop(std::chrono::milliseconds{0})) {
    events.push_back(std::move(*event));
  }
  const bool any_reply = std::any_of(events.begin(), events.end(), [](const RunEvent& event) {
    return std::holds_alternative<Reply>(event);
  });
  if (any_reply) {
    setup_.journal.store().transaction([&] {
      for (const RunEvent& event : events) {
        if (const auto* reply = std::get_if<Reply>(&event)) {
          calls_.store(*reply);
        }
      }
    });
  }
  std::move(events.begin(), events.end(), std::back_inserter(arrived_));
}

void RunLoop::handle(Reply& event) {
  const auto answered = calls_.finish(event);
  if (answered && !stop_.is_up()) { // otherwise the resumed run takes the reply from the store
    accept(*answered->state, answered->ask, event.reply);
  }
}

void RunLoop::accept(TaskState& state, const search::Ask& ask, const agents::ModelReply& reply) {
  if (search::role_with_operator(ask.op) != nullptr) {
    roles_.accept_reply(state, ask, reply);
  } else {
    intake_.accept_reply(state, ask, reply);
  }
}

void RunLoop::handle(evaluators::EvaluationResult& event) {
  judgements_.finish(event);
}

void RunLoop::handle(Interruption&) {
  stop_.stop(StopSign::Reason::Interrupted, "interrupted");
}

void RunLoop::show_progress() {
  ProgressSnapshot snapshot;
  auto planned = setup_.config.proposals * static_cast<std::int64_t>(setup_.tasks.size());
  for (const TaskState& state : tasks_) {
    for (const search::RoleStanding& role : state.search->roles()) {
      planned += role.calls;
    }
  }
  const std::int64_t limit = setup_.config.limits.calls;
  snapshot.calls_planned = limit > 0 ? std::min(limit, planned) : planned;
  snapshot.in_flight = static_cast<std::int64_t>(calls_.size());
  snapshot.judging = static_cast<std::int64_t>(judgements_.size());
  snapshot.verdicts = tally_.verdicts();
  for (const TaskState& state : tasks_) {
    if (const double best = state.speedups.best(); best > 0) {
      snapshot.best_speedup[state.task->name] = best;
    }
  }
  snapshot.spend = calls_.spent();
  snapshot.limits = setup_.config.limits;
  snapshot.elapsed = clock_.elapsed();
  snapshot.last_result = tally_.last_result();
  snapshot.endpoint = calls_.health();
  setup_.progress.update(snapshot);
}

void RunLoop::drain() {
  calls_.cancel_all();
  // Waits until every call has ended, at least with Cancelled. Replies that come meanwhile are
  // kept.
  for (;;) {
    if (await_event(calls_.empty() ? std::chrono::milliseconds{0} : kDrainWait)) {
      handle_first();
    } else if (calls_.empty()) {
      return;
    }
  }
}

RunOutcome RunLoop::wind_up() {
  judgements_.stop();
  drain();
  RunOutcome result = outcome();
  setup_.progress.finish();
  if (!session_begun_) {
    result.was_finished = result.end == RunOutcome::End::Finished;
    result.elapsed = setup_.elapsed_before;
    return result;
  }
  setup_.journal.event("session ended",
                       {{"reason", result.message.empty() ? "finished" : result.message},
                        {kElapsedSeconds, seconds(result.elapsed)}});
  setup_.journal.store().set_run_status(setup_.journal.run(), run_status(result.end));
  return result;
}

RunOutcome RunLoop::outcome() const {
  RunOutcome result;
  result.spend = calls_.spent();
  result.elapsed = clock_.elapsed();
  result.earnings = sums_of(&search::Search::earnings);
  result.earnings_of_missions = sums_of(&search::Search::earnings_of_missions);
  result.message = stop_.message();
  switch (stop_.reason()) {
  case StopSign::Reason::Interrupted:
    result.end = RunOutcome::End::Interrupted;
    break;
  case StopSign::Reason::WallTime:
    result.end = RunOutcome::End::BudgetSpent;
    break;
  case StopSign::Reason::Failure:
    result.end = RunOutcome::End::Failed;
    break;
  case StopSign::Reason::None:
    if (!stop_.trouble().empty()) {
      result.end = RunOutcome::End::Failed;
      result.message = stop_.trouble();
    } else if (calls_.deferred() > 0) {
      result.end = RunOutcome::End::Waiting;
      result.message = "waiting for " + counted(calls_.deferred(), "reply", "replies");
      result.message += refused_ ? "; " + refused_->limit + " allows no more calls" : "";
    } else if (refused_) {
      result.end = RunOutcome::End::BudgetSpent;
      result.message = refused_->limit + " " + refused_->why;
    } else if (calls_.unrecorded() > 0) {
      result.end = RunOutcome::End::RecordingSpent;
      result.message = "the recording has no reply to " + counted(calls_.unrecorded(), "call");
    }
    break;
  }
  return result;
}

std::vector<search::Earnings> RunLoop::sums_of(EarningsOf earnings) const {
  std::map<std::pair<std::string, std::string>, search::Earnings> sums;
  for (const TaskState& state : tasks_) {
    for (const search::Earnings& of_task : ((*state.search).*earnings)()) {
      sums[{of_task.model, of_task.op}] += of_task;
    }
  }
  std::vector<search::Earnings> all;
  all.reserve(sums.size());
  for (const auto& [arm, sum] : sums) {
    all.push_back(sum);
  }
  return all;
}

} // namespace winnow::harness
