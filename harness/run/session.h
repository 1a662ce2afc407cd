#pragma once

#include "agents/model_endpoint.h"
#include "harness/config/config.h"
#include "harness/exit_codes.h"
#include "store/run_store.h"

#include <string>
#include <vector>

namespace winnow::harness {

/// Creates a run from its configuration and drives it until it ends, is interrupted or spends a
/// limit; then prints the leaderboard on stdout and how to go on on stderr.
/// With `name_is_given` a name that is taken is a UsageError, otherwise "-2", "-3", ... is
/// appended. `instead` answers in place of the configured endpoint, unless it is nullptr.
ExitCode start_run(RunConfig config, bool name_is_given, agents::ModelEndpoint* instead = nullptr);

/// Takes up a run where it stopped. Overrides may change limits, the endpoint and run.parallel
/// only: anything else would make the results of one run incomparable.
ExitCode resume_run(const std::string& store, const std::string& run,
                    const std::vector<ConfigOverride>& overrides,
                    agents::ModelEndpoint* instead = nullptr);

/// What the run began with, changed by the overrides. Throws UsageError for one that may not
/// change.
RunConfig resumed_config(const store::RunRow& run, const std::vector<ConfigOverride>& overrides);

/// Throws UsageError for one that does not exist.
store::RunRow named_run(const store::RunStore& store, const std::string& name_or_number);

/// The name that queries take; empty for an empty one. Throws UsageError.
std::string only_run(const store::RunStore& store, const std::string& name_or_number);

/// The run, which no other process may drive as long as `store` lives. Throws UsageError for one
/// that does not exist, Error for one that another process drives.
store::RunRow locked_run(store::RunStore& store, const std::string& name);

} // namespace winnow::harness
