#pragma once

#include "store/run_store.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::store {

/// An evaluation that counts for its candidate.
struct CountingEvaluation {
  RowId candidate = 0, task = 0;
  tasks::ParameterChoice parameters;
};

/// The evaluations of the run that count and that the worker of this name has made, oldest first.
std::vector<CountingEvaluation> evaluations_of_worker(const RunStore& store, RowId run,
                                                      std::string_view worker);
/// Supersedes each of evaluations_of_worker() by `gap` with its parameters, so that none of them
/// counts, and records the event. Returns the evaluations that no longer count. The caller makes
/// one transaction of the writes.
std::vector<CountingEvaluation>
withdraw_evaluations(RunStore& store, RowId run, const std::string& worker, tasks::Evaluation gap);
/// Of the run's candidates whose evaluation is a fault of the machine, or was withdrawn. Oldest
/// first.
std::vector<CountingEvaluation> unjudged_evaluations(const RunStore& store, RowId run);

} // namespace winnow::store
