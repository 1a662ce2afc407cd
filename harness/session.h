#pragma once

#include "harness/config.h"
#include "harness/exit_codes.h"

#include <string>
#include <vector>

namespace winnow::harness {

/// Creates a run from its configuration and drives it until it ends, is interrupted or spends a
/// limit; then prints the leaderboard on stdout and how to go on on stderr.
/// With `name_is_given` a name that is taken is a UsageError, otherwise "-2", "-3", ... is
/// appended.
ExitCode start_run(RunConfig config, bool name_is_given);

/// Takes up a run where it stopped. Overrides may change limits, the endpoint and run.parallel
/// only: anything else would make the results of one run incomparable.
ExitCode resume_run(const std::string& store, const std::string& run,
                    const std::vector<ConfigOverride>& overrides);

} // namespace winnow::harness
