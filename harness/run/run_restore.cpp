#include "harness/run/run_restore.h"

#include "search/role.h"
#include "tasks/task/baseline.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <variant>

namespace winnow::harness {
namespace {

/// A candidate has one evaluation in full at a time. Its heats differ in their choices.
void drop_unjudged(TaskState& state, const search::Evaluate& ended) {
  std::erase_if(state.unjudged, [&](const search::Evaluate& one) {
    return one.candidate == ended.candidate && one.is_heat() == ended.is_heat() &&
           (!ended.is_heat() || one.choices == ended.choices);
  });
}

/// Keeps what the event has decided, or drops what has a result now.
void follow(TaskState& state, const search::Event& event, VerdictTally& tally) {
  const auto count_settled = [&](store::RowId candidate) {
    if (const auto& outcome = state.search->find(candidate)->outcome) {
      tally.count(state, candidate, *outcome);
    }
  };
  if (const auto* decided = std::get_if<search::Decided>(&event)) {
    if (const auto* ask = std::get_if<search::Ask>(&decided->action)) {
      state.unsent.push_back(*ask);
    } else {
      state.unjudged.push_back(std::get<search::Evaluate>(decided->action));
    }
  } else if (const auto* added = std::get_if<search::Added>(&event)) {
    if (!state.has_first_kernels && !state.task->baseline.empty()) {
      state.baseline = added->candidate;
    }
    state.has_first_kernels = true; // the first candidates come in one transaction
    state.unscored.push_back(added->candidate);
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
  } else if (const auto* advised = std::get_if<search::Advised>(&event)) {
    std::erase_if(state.unsent, [&](const auto& ask) { return ask.key == advised->key; });
  } else if (const auto* unanswered = std::get_if<search::Unanswered>(&event)) {
    std::erase_if(state.unsent, [&](const auto& ask) { // nothing waits for a role any more
      return ask.key == unanswered->key && search::role_with_operator(ask.op) != nullptr;
    });
  } else if (const auto* faulted = std::get_if<search::Faulted>(&event)) {
    drop_unjudged(state, {faulted->candidate, {}, faulted->choices, faulted->turns});
  }
}

void restore(TaskState& state, const RunLoopSetup& setup, CandidateShelf& shelf,
             VerdictTally& tally) {
  const std::vector<search::Event> events = setup.journal.search_events(state.row);
  for (const search::Event& event : events) {
    if (const auto* withdrawn = std::get_if<search::Withdrawn>(&event)) {
      if (const auto& outcome = state.search->find(withdrawn->candidate)->outcome) {
        tally.withdraw(state, withdrawn->candidate, *outcome);
      }
    }
    state.search->apply(event);
    follow(state, event, tally);
  }
  if (events.empty()) {
    return;
  }
  state.is_resumed = true;
  state.search->apply(search::Resumed{}); // RunLoop::begin_session() logs it
  const search::Individual* baseline = state.search->find(state.baseline);
  if (baseline != nullptr && baseline->outcome) {
    const tasks::Evaluation& evaluation = shelf.at(state.baseline).evaluation;
    const bool is_withdrawn = evaluation.verdict == tasks::Verdict::Infrastructure &&
                              baseline->outcome->verdict != tasks::Verdict::Infrastructure;
    if (!is_withdrawn) { // an older Winnow did so when nobody trusted a worker
      tally.check_baseline(state, evaluation);
    }
  }
}

} // namespace

std::vector<TaskState> restored_tasks(const RunLoopSetup& setup, CandidateShelf& shelf,
                                      VerdictTally& tally) {
  std::vector<TaskState> tasks;
  for (const tasks::Task& task : setup.tasks) {
    TaskState& state = tasks.emplace_back();
    tasks::Task here = task;
    tasks::take_baseline_of(here, setup.device_kind);
    state.task = std::make_shared<const tasks::Task>(std::move(here));
    state.row = setup.journal.store().add_task(task);
    state.search = search::make_search(setup.config.strategy, search_settings(setup.config, task));
    restore(state, setup, shelf, tally);
  }
  return tasks;
}

std::vector<UnusedReply> restored_replies(const RunLoopSetup& setup, std::vector<TaskState>& tasks,
                                          ModelCalls& calls, VerdictTally& tally) {
  std::map<std::string, UnusedReply> open; // calls without a candidate, by key
  for (TaskState& state : tasks) {
    for (const search::Ask& ask : state.unsent) {
      open[ask.key] = {&state, ask, {}};
    }
  }
  std::int64_t replies = 0;
  std::vector<UnusedReply> unused;
  for (const store::ModelCallRow& call :
       setup.journal.store().finished_calls(setup.journal.run())) {
    calls.count_stored(call);
    ++replies;
    if (const auto found = open.find(call.key); found != open.end()) {
      found->second.reply = reply_from_row(call);
      std::erase(found->second.state->unsent, found->second.ask);
      unused.push_back(found->second);
    }
  }
  if (replies > 0) {
    tally.tell_restored(replies);
  }
  return unused;
}

} // namespace winnow::harness
