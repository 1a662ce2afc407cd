#pragma once

#include <string>

namespace winnow::harness {

/// What the process's exit code says. Scripts rely on the numbers.
enum class ExitCode : int {
  Done = 0,              ///< eval, profile, race: every kernel is correct; batch: or replies wait
  Failure = 1,           ///< something is broken: store, endpoint, machine
  Usage = 2,             ///< bad option, config, task or file name
  DeviceUnavailable = 3, ///< the device that was asked for cannot be used here
  NotPermitted = 4,      ///< the isolation or permission that was required is not available
  BudgetSpent = 5,       ///< a limit, or the end of a recording, stopped work that remained
  NotCorrect = 10,       ///< eval, profile, race: judged, and not correct
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
