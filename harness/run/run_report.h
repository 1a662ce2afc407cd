#pragma once

#include "harness/exit_codes.h"
#include "harness/run/run_loop.h"
#include "store/run_store.h"

#include <string>

namespace winnow::harness {

ExitCode exit_code(RunOutcome::End end);

/// The best of the run, as a table, or a line that says that there is none yet.
std::string run_leaderboard(const store::RunStore& store, const std::string& run);

/// What was spent, why the run stopped, and the commands to go on with. For stderr. `go_on` is the
/// command that takes the run up again, but for its name.
std::string run_summary(const RunOutcome& outcome, const RunConfig& config, const std::string& run,
                        const std::string& go_on = "winnow resume");

/// A word for a POSIX shell, quoted if it has to be.
std::string shell_word(const std::string& text);

} // namespace winnow::harness
