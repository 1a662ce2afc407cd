#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace winnow::evaluators {

/// The answer of an external checker about a kernel file.
struct PrecheckAnswer {
  enum class Outcome { Passed, Refused, Failed };
  Outcome outcome = Outcome::Failed;
  std::string detail; ///< Refused: the reason and the matches; Failed: the error
};

constexpr std::chrono::milliseconds kPrecheckTimeout{30'000};

/// Runs `command` with /bin/sh in the working directory, with the kernel file on its stdin. The
/// last line of its stdout must be a JSON object with a boolean `should_filter`. `filter_reason`
/// and `matched_patterns` (strings, or objects with a `pattern`) explain a refusal. Anything else
/// is Failed and never Passed: an exit code other than 0, a timeout, other output. The command's
/// environment contains only PATH, HOME and LANG. The format is that of KernelGuard, a public
/// checker of kernel submissions. Ends soon after `cancelled` returns true: Failed.
PrecheckAnswer precheck(const std::string& command, std::string_view text,
                        std::chrono::milliseconds timeout = kPrecheckTimeout,
                        const std::function<bool()>& cancelled = {});

/// Throws UsageError if the first word of `command` names a program that does not exist. A command
/// that only a shell can parse (quotes, variables) passes without this check. An empty command
/// means no check.
void require_precheck_program(const std::string& command);

} // namespace winnow::evaluators
