#pragma once

#include "store/run_store.h"

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
/// Of the run's candidates whose evaluation is a fault of the machine, or was withdrawn. Oldest
/// first.
std::vector<CountingEvaluation> unjudged_evaluations(const RunStore& store, RowId run);

} // namespace winnow::store
