#include "evaluators/evaluation/evaluator.h"
#include "harness/report/counted.h"
#include "harness/run/run_loop.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

// The archive search stops when the best kernel reaches this share of the speed of light at every
// search shape.
constexpr double kEnoughSpeedOfLight = 0.95;
// The tuning of a candidate begins no further rung after so many seconds of the device.
constexpr double kTuningSeconds = 20;

} // namespace

search::Settings search_settings(const RunConfig& config, const std::string& task) {
  search::Settings settings;
  settings.task = task;
  settings.proposals = static_cast<std::size_t>(config.proposals);
  settings.lineages = static_cast<std::size_t>(config.chains);
  settings.evaluator_version = evaluators::kEvaluatorVersion;
  settings.seeds = static_cast<std::size_t>(config.seeds);
  settings.patience = static_cast<std::size_t>(config.patience);
  settings.enough_speed_of_light = kEnoughSpeedOfLight;
  settings.tuning_seconds = kTuningSeconds;
  return settings;
}

void RunLoop::restore() {
  for (const tasks::Task& task : setup_.tasks) {
    TaskState& state = tasks_.emplace_back();
    state.task = std::make_shared<const tasks::Task>(task);
    state.row = setup_.journal.add_task(task);
    state.search =
        search::make_search(setup_.config.strategy, search_settings(setup_.config, task.name));
    restore(state);
  }
  if (!setup_.is_finished) {
    begin_session();
  }
  restore_calls();
  for (TaskState& state : tasks_) {
    for (const search::Evaluate& evaluate : std::exchange(state.unjudged, {})) {
      submit(state, evaluate);
    }
  }
}

/// Applies the log of the task's search. What was decided and has no result is left to do.
void RunLoop::restore(TaskState& state) {
  const std::vector<search::Event> events = setup_.journal.search_events(state.row);
  const auto count_settled = [&](store::RowId candidate) {
    if (const auto& outcome = state.search->find(candidate)->outcome) {
      count(state, candidate == state.baseline, *outcome);
    }
  };
  for (const search::Event& event : events) {
    state.search->apply(event);
    if (const auto* decided = std::get_if<search::Decided>(&event)) {
      if (const auto* ask = std::get_if<search::Ask>(&decided->action)) {
        state.unsent.push_back(*ask);
      } else {
        state.unjudged.push_back(std::get<search::Evaluate>(decided->action));
      }
    } else if (const auto* added = std::get_if<search::Added>(&event)) {
      state.baseline = state.baseline == 0 ? added->candidate : state.baseline;
      std::erase_if(state.unsent, [&](const auto& ask) { return ask.key == added->key; });
    } else if (const auto* evaluated = std::get_if<search::Evaluated>(&event)) {
      drop_unjudged(state, {evaluated->candidate, {}, {}, 0});
      count_settled(evaluated->candidate);
    } else if (const auto* tried = std::get_if<search::Tried>(&event)) {
      search::Evaluate heat{tried->candidate, {}, {}, 1};
      for (const search::Trial& trial : tried->trials) {
        heat.choices.push_back(trial.choice);
      }
      drop_unjudged(state, heat);
      count_settled(tried->candidate);
    } else if (const auto* faulted = std::get_if<search::Faulted>(&event)) {
      drop_unjudged(state, {faulted->candidate, {}, faulted->choices, faulted->turns});
    }
  }
  if (events.empty()) {
    return;
  }
  state.is_resumed = true;
  state.search->apply(search::Resumed{}); // begin_session() logs it
  const search::Individual* baseline = state.search->find(state.baseline);
  if (baseline != nullptr && baseline->outcome) {
    check_baseline(state, shelf_.at(state.baseline).evaluation);
  }
}

/// A candidate has one evaluation in full at a time. Its heats differ in their choices.
void RunLoop::drop_unjudged(TaskState& state, const search::Evaluate& ended) {
  std::erase_if(state.unjudged, [&](const search::Evaluate& one) {
    return one.candidate == ended.candidate && one.is_heat() == ended.is_heat() &&
           (!ended.is_heat() || one.choices == ended.choices);
  });
}

/// Adds up what earlier sessions have spent, and takes the replies that they stored and did not use
/// any more.
void RunLoop::restore_calls() {
  const store::RunCosts costs = setup_.journal.costs();
  budget_.add_unconfirmed(
      {costs.unconfirmed_sendings, costs.unconfirmed_tokens, costs.unconfirmed_dollars});
  std::map<std::string, TaskState*> open; // calls without a candidate, by key
  for (TaskState& state : tasks_) {
    for (const search::Ask& ask : state.unsent) {
      open[ask.key] = &state;
    }
  }
  std::int64_t replies = 0;
  std::vector<std::pair<TaskState*, store::ModelCallRow>> unused;
  for (store::ModelCallRow& call : setup_.journal.finished_calls()) {
    budget_.settle(call.key, reply_from_row(call));
    ++replies;
    if (const auto found = open.find(call.key); found != open.end()) {
      unused.emplace_back(found->second, std::move(call));
    }
  }
  if (replies > 0) {
    tell_restored(replies);
  }
  for (const auto& [state, call] : unused) {
    const auto ask = std::find_if(state->unsent.begin(), state->unsent.end(),
                                  [&, &key = call.key](const auto& one) { return one.key == key; });
    const search::Ask answered = *ask;
    state->unsent.erase(ask);
    accept_reply(*state, answered, reply_from_row(call));
  }
}

void RunLoop::tell_restored(std::int64_t replies) {
  std::int64_t judged = 0;
  for (const auto& [verdict, candidates] : verdicts_) {
    judged += candidates;
  }
  setup_.progress.event(fmt::format("the store has {} to this run ({} judged, {} correct)",
                                    counted(replies, "reply", "replies"), judged,
                                    verdicts_["correct"]),
                        Progress::Weight::Important);
}

} // namespace winnow::harness
