#pragma once

#include "base/availability.h"
#include "base/error.h"
#include "process/child_process.h"

#include <string_view>

namespace winnow::process {

/// The `_probe` child prints this line when every promise of its level holds.
constexpr std::string_view kProbeAnswer = "winnow probe: fenced in";
/// Otherwise its stderr has this text before the remedy.
constexpr std::string_view kRemedyMark = "remedy: ";

/// For the probing child: prints an Error on stderr and returns the exit code.
int report_failure(const Error& error);
/// For the parent: the text of report_failure(), or else how the child ended.
Availability reported_failure(const ChildResult& result);

} // namespace winnow::process
