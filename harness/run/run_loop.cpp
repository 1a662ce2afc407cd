#include "harness/run/run_loop.h"

#include "harness/config/duration.h"
#include "harness/report/counted.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

// Interval of updates to the status line while nothing else happens.
constexpr std::chrono::milliseconds kTick{500};

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
    : setup_(std::move(setup)), started_(setup_.now()),
      budget_(setup_.config.limits, setup_.price, setup_.config.endpoint.max_output_tokens),
      queue_(std::make_shared<EventQueue<Event>>()), shelf_(setup_.journal.store()) {
  evaluations_ = setup_.evaluations(
      [queue = queue_](evaluators::EvaluationResult result) { queue->push(std::move(result)); });
}

RunLoop::~RunLoop() {
  if (!calls_.empty()) { // an exception ends the run
    setup_.endpoint.cancel_all();
  }
}

void RunLoop::interrupt() {
  queue_->push(Interruption{});
}

RunOutcome RunLoop::run() {
  if (!setup_.is_finished) {
    begin_session();
  }
  restore();
  while (step()) {
  }
  return wind_up();
}

/// Called when there is something to do. Until then a finished run keeps its status and its end.
void RunLoop::begin_session() {
  if (!session_begun_) {
    session_begun_ = true;
    setup_.journal.set_status("running");
    setup_.journal.event("session started", {{"device", setup_.device_kind}});
    for (TaskState& state : tasks_) {
      if (state.is_resumed) {
        setup_.journal.log(state.row, search::Resumed{}); // restore() has applied it
      }
    }
  }
}

bool RunLoop::step() {
  dispatch();
  show_progress();
  if (stop_ != Stop::No || (calls_.empty() && judging_.empty())) {
    return false;
  }
  if (wall_time_spent()) {
    stop(Stop::WallTime,
         "limits.wall_time = " + format_duration(setup_.config.limits.wall_time) + " is spent");
    return false;
  }
  if (auto event = next_event(next_wait())) {
    std::visit([this](auto& what) { handle(what); }, *event);
  }
  return true;
}

void RunLoop::handle(Interruption&) {
  stop(Stop::Interrupted, "interrupted");
}

void RunLoop::stop(Stop reason, std::string message) {
  if (stop_ == Stop::No) { // only the first reason counts
    stop_ = reason;
    stop_message_ = std::move(message);
  }
}

std::chrono::milliseconds RunLoop::elapsed() const {
  return setup_.elapsed_before +
         std::chrono::duration_cast<std::chrono::milliseconds>(setup_.now() - started_);
}

std::chrono::milliseconds RunLoop::next_wait() const {
  const std::chrono::milliseconds limit = setup_.config.limits.wall_time;
  if (limit.count() == 0) {
    return kTick;
  }
  return std::clamp(limit - elapsed(), std::chrono::milliseconds{1}, kTick);
}

bool RunLoop::wall_time_spent() const {
  const std::chrono::milliseconds limit = setup_.config.limits.wall_time;
  return limit.count() > 0 && elapsed() >= limit;
}

void RunLoop::show_progress() {
  ProgressSnapshot snapshot;
  const auto planned = setup_.config.proposals * static_cast<std::int64_t>(setup_.tasks.size());
  const std::int64_t limit = setup_.config.limits.calls;
  snapshot.calls_planned = limit > 0 ? std::min(limit, planned) : planned;
  snapshot.in_flight = static_cast<std::int64_t>(calls_.size());
  snapshot.judging = static_cast<std::int64_t>(judging_.size());
  snapshot.verdicts = verdicts_;
  for (const TaskState& state : tasks_) {
    if (state.best_speedup > 0) {
      snapshot.best_speedup[state.task->name] = state.best_speedup;
    }
  }
  snapshot.spend = budget_.spent();
  snapshot.limits = setup_.config.limits;
  snapshot.elapsed = elapsed();
  snapshot.last_result = last_result_;
  snapshot.endpoint = setup_.endpoint.health();
  setup_.progress.update(snapshot);
}

RunOutcome RunLoop::wind_up() {
  evaluations_->stop();
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
  setup_.journal.set_status(run_status(result.end));
  return result;
}

RunOutcome RunLoop::outcome() const {
  RunOutcome result;
  result.spend = budget_.spent();
  result.elapsed = elapsed();
  result.message = stop_message_;
  switch (stop_) {
  case Stop::Interrupted:
    result.end = RunOutcome::End::Interrupted;
    break;
  case Stop::WallTime:
    result.end = RunOutcome::End::BudgetSpent;
    break;
  case Stop::Failure:
    result.end = RunOutcome::End::Failed;
    break;
  case Stop::No:
    if (!trouble_.empty()) {
      result.end = RunOutcome::End::Failed;
      result.message = trouble_;
    } else if (deferred_ > 0) {
      result.end = RunOutcome::End::Waiting;
      result.message = "waiting for " + counted(deferred_, "reply", "replies");
      result.message += refused_.empty() ? "" : "; " + refused_ + " allows no more calls";
    } else if (!refused_.empty()) {
      result.end = RunOutcome::End::BudgetSpent;
      result.message = refused_ + " is spent";
    } else if (unrecorded_ > 0) {
      result.end = RunOutcome::End::RecordingSpent;
      result.message = "the recording has no reply to " + counted(unrecorded_, "call");
    }
    break;
  }
  return result;
}

} // namespace winnow::harness
