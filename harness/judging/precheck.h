#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace winnow::harness {

/// What an external checker says of a kernel file.
struct PrecheckAnswer {
  enum class Outcome { Passed, Refused, Failed };
  Outcome outcome = Outcome::Failed;
  std::string detail; ///< Refused: its reason and what it matched; Failed: what went wrong
};

constexpr std::chrono::milliseconds kPrecheckTimeout{30'000};

/// Runs `command` with /bin/sh in the working directory, the kernel file on its stdin. The last
/// line of its stdout must be a JSON object with a boolean `should_filter`; `filter_reason` and
/// `matched_patterns` (strings, or objects with a `pattern`) explain a refusal. Whatever else
/// happens (an exit code other than 0, no end in time, other output) is Failed and never Passed.
/// The command's environment holds PATH, HOME and LANG only. The format is that of KernelGuard, a
/// public checker of kernel submissions.
PrecheckAnswer precheck(const std::string& command, std::string_view text,
                        std::chrono::milliseconds timeout = kPrecheckTimeout);

/// Throws UsageError when the program that `command` begins with is not there. What only a shell
/// can take apart (quotes, variables) is let through. An empty command is none.
void require_precheck_program(const std::string& command);

} // namespace winnow::harness
