#include "harness/run/goals.h"

#include "base/text/shell_word.h"
#include "harness/report/counted.h"
#include "store/board_facts.h"
#include "store/run_store.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

/// A metric of the best kernel; 0: it is not known.
double value_of(const store::LeaderboardRow& best, Until::Metric metric) {
  switch (metric) {
  case Until::Metric::VersusBest:
    return best.versus_best;
  case Until::Metric::OfLight:
    return best.of_light;
  case Until::Metric::Speedup:
    return best.speedup;
  }
  return 0;
}

std::int64_t unused_calls(const TaskState& state) {
  return static_cast<std::int64_t>(state.search->proposals()) -
         static_cast<std::int64_t>(state.search->asks());
}

} // namespace

Goals::Goals(const RunLoopSetup& setup) : setup_(setup) {
  if (!setup.config.until.empty()) {
    until_ = parse_until(setup.config.until);
    const std::vector<store::RunRow> runs = setup.journal.store().runs();
    run_ = std::find_if(runs.begin(), runs.end(), [&](const store::RunRow& run) {
             return run.id == setup.journal.run();
           })->name;
  }
}

void Goals::look_at(TaskState& state) {
  if (!until_) {
    return;
  }
  const double best = state.speedups.best();
  double& looked = looked_[state.row];
  if (best <= looked || !state.search->why_done().empty()) {
    return;
  }
  const bool is_first = std::exchange(looked, best) == 0;
  const store::RunStore& store = setup_.journal.store();
  const store::LeaderboardQuery query{state.task->name, setup_.device_kind, run_, 1};
  std::vector<store::LeaderboardRow> rows = store.leaderboard(query);
  if (rows.empty()) {
    return; // no kernel is promoted yet
  }
  store::board_facts(store, query, rows);
  const double value = value_of(rows.front(), until_->metric);
  if (value > until_->least) {
    const std::string name = to_string(until_->metric);
    commit(setup_.journal, state, [&]() -> std::vector<search::Event> {
      return {search::Enough{
          fmt::format("{} is {:.3g}, above {:.3g} (run.until)", name, value, until_->least)}};
    });
  } else if (value == 0 && is_first) {
    const bool lacks_alternative = until_->metric == Until::Metric::VersusBest;
    setup_.progress.event(fmt::format("{}: {} is not known, so run.until does not end its search{}",
                                      state.task->name, to_string(until_->metric),
                                      lacks_alternative
                                          ? "; to time the alternatives: winnow baseline torch " +
                                                shell_word(state.task->name)
                                          : ""),
                          Progress::Weight::Important);
  }
}

bool Goals::share(std::vector<TaskState>& tasks) {
  if (setup_.is_finished) {
    return false;
  }
  std::vector<TaskState*> open;
  std::map<TaskState*, std::int64_t> granted;
  std::int64_t unused = 0;
  for (TaskState& state : tasks) {
    if (state.search->why_done().empty()) {
      open.push_back(&state);
    } else if (const std::int64_t left = unused_calls(state);
               left > 0 && state.search->has_enough()) {
      granted[&state] = -left;
      unused += left;
    }
  }
  if (unused == 0 || open.empty()) {
    return false;
  }
  // Those that may make the fewest calls come first.
  std::stable_sort(open.begin(), open.end(), [](const TaskState* a, const TaskState* b) {
    return a->search->proposals() < b->search->proposals();
  });
  for (std::int64_t i = 0; i < unused; ++i) {
    ++granted[open[static_cast<std::size_t>(i) % open.size()]];
  }
  setup_.journal.store().transaction([&] {
    for (const auto& [state, calls] : granted) {
      setup_.journal.log(state->row, search::Granted{calls});
    }
  });
  for (const auto& [state, calls] : granted) {
    state->search->apply(search::Granted{calls});
  }
  setup_.progress.event(counted(unused, "call") + " of ended searches go to " +
                            counted(static_cast<std::int64_t>(open.size()), "other task"),
                        Progress::Weight::Important);
  return true;
}

} // namespace winnow::harness
