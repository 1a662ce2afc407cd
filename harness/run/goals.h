#pragma once

#include "harness/config/until.h"
#include "harness/run/state/run_setup.h"
#include "harness/run/state/task_state.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace winnow::harness {

/// Ends the search of a task whose best kernel is as good as run.until asks. Gives the calls of
/// searches that have enough (search::Search::has_enough()) to the tasks that still search.
class Goals {
public:
  explicit Goals(const RunLoopSetup& setup);

  /// Logs search::Enough if a new best kernel is good enough.
  void look_at(TaskState& state);
  /// Logs search::Granted for the calls that searches with enough have not made. True: a search has
  /// got some.
  bool share(std::vector<TaskState>& tasks);

private:
  const RunLoopSetup& setup_;
  std::optional<Until> until_;
  std::string run_;                       ///< its name
  std::map<store::RowId, double> looked_; ///< the best speedup at the last look, by task
};

} // namespace winnow::harness
