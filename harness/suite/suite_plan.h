#pragma once

#include "harness/config/config.h"
#include "store/run_store.h"
#include "tasks/suite.h"

#include <optional>
#include <string>
#include <vector>

namespace winnow::harness {

/// The models of a run, as the tables of a suite name them: "gpt-5", or "cheap-model, good-model".
std::string model_names(const RunConfig& config);

/// Throws UsageError if two of the runs have the same models and the same strategy: nobody could
/// tell their rows apart.
void check_distinct_runs(const std::vector<RunConfig>& runs);

/// What the recording that the run replays lacks, as a line of text; empty: it has a reply for each
/// task of the suite, or the run replays none. Throws UsageError if it has no reply for any task,
/// or cannot be read.
std::string missing_replies(const RunConfig& config, const std::vector<tasks::SuiteTask>& suite);

/// The newest run of the store that began the search which `config` describes: the tasks of the
/// suite as they are now, and the same settings. The name, the limits, the calls in flight, and the
/// device if it is "best" may differ.
std::optional<store::RunRow> begun_run(const store::RunStore& store, const RunConfig& config,
                                       const std::vector<tasks::SuiteTask>& suite);

/// Times what a user would run otherwise (measure_torch()) on the run's device for each task of the
/// suite, and stores the times in the run's store. A task without times is told, and the others go
/// on. Throws DeviceUnavailable, and Error if there is no Python.
void store_alternatives(const std::vector<tasks::SuiteTask>& suite, const RunConfig& config);

} // namespace winnow::harness
