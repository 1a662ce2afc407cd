#pragma once

#include "harness/config/config.h"
#include "harness/run/state/journal.h"
#include "search/search.h"
#include "tasks/task/task.h"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace winnow::harness {

/// What the search of a task needs to know of the configuration and the task.
search::Settings search_settings(const RunConfig& config, const tasks::Task& task);

/// The speedups of candidates. A run asks for the best one after each verdict, so the best one of a
/// million is found at once.
class Speedups {
public:
  void set(store::RowId candidate, double speedup);
  void erase(store::RowId candidate);
  double best() const; ///< 0: there is none

private:
  std::map<store::RowId, double> by_candidate_;
  std::multiset<double> sorted_;
};

/// A task of a run, and its search.
struct TaskState {
  std::shared_ptr<const tasks::Task> task;
  store::RowId row = 0;
  /// The baseline if the task has one, and the user's kernel if there is one, are in the store.
  bool has_first_kernels = false;
  store::RowId baseline = 0; ///< its candidate; 0: not in the store yet, or the task has none
  std::unique_ptr<search::Search> search;
  bool is_told_done = false;              ///< why its search is over was said
  bool is_resumed = false;                ///< an earlier session has logged something
  std::vector<search::Ask> unsent;        ///< earlier sessions decided them; they have no reply
  std::vector<search::Evaluate> unjudged; ///< earlier sessions decided them; they have no result
  Speedups speedups;                      ///< of candidates that count, except the baseline
  std::vector<store::RowId> unscored;     ///< RoleIntake::follow() has not scored them yet
};

/// Stores the events that `work` returns, in one transaction with what `work` writes. Then applies
/// them.
void commit(Journal& journal, TaskState& state,
            const std::function<std::vector<search::Event>()>& work);

} // namespace winnow::harness
