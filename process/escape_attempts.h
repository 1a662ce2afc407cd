#pragma once

#include "process/sandbox.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::process {

/// One forbidden action that a fenced child tried.
struct EscapeAttempt {
  std::string name; ///< "read a file of the user"
  bool stopped = false;
  std::string detail; ///< what stopped the action, or what the action reached
};

/// Tries all forbidden actions under the policy of a candidate's run: it reads one module and
/// writes nothing. The order is the same at every level. The hidden subcommand `_escape` of this
/// program does the work. Throws Error when `level` does not work on this machine or the child
/// prints nothing.
std::vector<EscapeAttempt> try_to_escape(Isolation level);

/// A value of OUTCOME in a line "NAME\tOUTCOME\tDETAIL" of the child. The other value is
/// "possible".
constexpr std::string_view kStopped = "stopped";
/// Entry point of `_escape`.
int escape_worker_main(std::vector<std::string> arguments);

} // namespace winnow::process
