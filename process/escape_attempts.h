#pragma once

#include "process/sandbox.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::process {

/// One thing that a fenced child must not be able to do, tried from inside.
struct EscapeAttempt {
  std::string name; ///< "read a file of the user's"
  bool stopped = false;
  std::string detail; ///< what stopped it, or what it reached
};

/// Tries them all with the policy of a candidate's run (it reads one module and writes nothing), in
/// the same order at every level. What the hidden subcommand `_escape` of this program reports.
/// Throws Error when `level` does not work here or the child says nothing.
std::vector<EscapeAttempt> try_to_escape(Isolation level);

/// The outcome in a line "NAME\tOUTCOME\tDETAIL" of the child; the other one is "possible".
constexpr std::string_view kStopped = "stopped";
/// Entry point of `_escape`.
int escape_worker_main(std::vector<std::string> arguments);

} // namespace winnow::process
