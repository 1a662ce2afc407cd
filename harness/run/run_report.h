#pragma once

#include "harness/exit/exit_codes.h"
#include "harness/run/run_loop.h"
#include "store/run_store.h"

#include <string>

namespace winnow::harness {

ExitCode exit_code(RunOutcome::End end);

/// The best kernels of the run as a table, or a line that says that there are none yet.
std::string run_leaderboard(const store::RunStore& store, const std::string& run);

/// What the calls of each operator to each model have cost and earned, and those of each direction.
/// Empty if the search had no choice, or no call was made. "copies": replies with a kernel that the
/// search had already.
std::string earnings_table(const RunOutcome& outcome, const RunConfig& config);

/// The cost, the reason why the run stopped, and the commands to continue. For stderr. `go_on` is
/// the command that continues the run, without the run's name.
std::string run_summary(const RunOutcome& outcome, const RunConfig& config, const std::string& run,
                        const std::string& go_on = "winnow resume");

} // namespace winnow::harness
