#pragma once

#include "evaluators/device/compile/compiler_messages.h"
#include "evaluators/device/source/source_scan.h"

#include <optional>
#include <vector>

namespace winnow::evaluators {

/// How our device headers begin the error for what a device lacks.
constexpr std::string_view kUnsupportedPrefix = "winnow-unsupported: ";

/// What explains a failed compile better than the compiler does: a construct that our headers have
/// refused, else one that the scan has seen. Scans know what the cpu device lacks; for others give
/// only hints that hold for them.
std::optional<ConstructHint> find_unsupported(const std::vector<CompilerError>& errors,
                                              const std::vector<ConstructHint>& hints);

} // namespace winnow::evaluators
