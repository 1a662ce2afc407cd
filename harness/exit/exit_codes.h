#pragma once

#include <string>

namespace winnow::harness {

/// The exit code of the process. Scripts rely on the numbers.
enum class ExitCode : int {
  Done = 0, ///< eval, profile, race: every kernel is correct; batch: done, or it waits for replies
  Failure = 1,           ///< something is broken: store, endpoint, machine
  Usage = 2,             ///< a mistake in an option, a config, a task or a file name
  DeviceUnavailable = 3, ///< the requested device cannot be used here
  NotPermitted = 4,      ///< the required isolation or permission is not available
  BudgetSpent = 5,       ///< a limit or the end of a recording stopped the run with work left
  NotCorrect = 10,       ///< eval, profile, race: a kernel was judged and is not correct
  Interrupted = 130,     ///< Ctrl-C or SIGTERM; the state is saved
};

constexpr int to_int(ExitCode code) {
  return static_cast<int>(code);
}

/// The table for --help.
inline std::string exit_code_table() {
  return "Exit codes: 0 done (eval, profile, race: correct; batch: or waiting for replies), 1 "
         "failure, 2 usage,\n"
         "  3 device not available, 4 required isolation or permission not available,\n"
         "  5 budget or recording spent with work left, 10 judged and not correct,\n"
         "  130 interrupted with the state saved.";
}

} // namespace winnow::harness
