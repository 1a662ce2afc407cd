#pragma once

#include "store/database.h"
#include "store/run_store.h"

#include <map>
#include <string>
#include <utility>

namespace winnow::store {

/// The seconds that the evaluations of a run took for a task: to compile, run, compare and time.
/// All of its candidates count, the baseline and seed kernels, too, and all trials of parameters.
/// Finals do not count, nor what somebody asked for later: `profile`, `race` and `reverify`.
/// `last`: the last evaluation that counts; 0: all count.
double device_seconds(const Database& database, RowId run, RowId task, RowId last = 0);

/// The same of each task that the run has asked a model about. By name and digest of the task.
std::map<std::pair<std::string, std::string>, double> device_seconds_of_tasks(const RunStore& store,
                                                                              RowId run);

} // namespace winnow::store
