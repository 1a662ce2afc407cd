#pragma once

#include "base/availability.h"
#include "base/error.h"
#include "process/child_process.h"

#include <string_view>

namespace winnow::process {

/// What the `_probe` child prints when all that its level promises holds.
constexpr std::string_view kProbeAnswer = "winnow probe: fenced in";
/// What stands before the remedy on its stderr when something does not.
constexpr std::string_view kRemedyMark = "remedy: ";

/// In a probing child: prints an Error on stderr; the exit code.
int report_failure(const Error& error);
/// In its parent: what report_failure() printed, else how the child ended.
Availability reported_failure(const ChildResult& result);

} // namespace winnow::process
