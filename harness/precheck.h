#pragma once

#include <string>
#include <string_view>

namespace winnow::harness {

/// What an external checker says of a kernel file.
struct PrecheckAnswer {
  enum class Outcome { Passed, Refused, Failed };
  Outcome outcome = Outcome::Failed;
  std::string detail; ///< Refused: its reason and what it matched; Failed: what went wrong
};

/// Runs `command` with /bin/sh in the working directory, the kernel file on its stdin. The last
/// line of its stdout must be a JSON object with a boolean `should_filter`; `filter_reason` and
/// `matched_patterns` ([{"pattern": "..."}]) explain a refusal. Whatever else happens (no such
/// program, an exit code other than 0, five minutes without an end, other output) is Failed and
/// never Passed. The command's environment holds PATH, HOME and LANG only. The format is that of
/// KernelGuard, a public checker of kernel submissions.
PrecheckAnswer precheck(const std::string& command, std::string_view text);

} // namespace winnow::harness
