#pragma once

#include "evaluators/device/source/compiler_messages.h"
#include "evaluators/device/source/source_scan.h"

#include <optional>
#include <vector>

namespace winnow::evaluators {

/// Prefix of the error that Winnow's device headers raise for a construct that the device lacks.
constexpr std::string_view kUnsupportedPrefix = "winnow-unsupported: ";

/// Finds a construct that explains a failed compile better than the compiler's message: one that
/// Winnow's headers refused, else one from `hints`. A scan finds what the CPU device lacks; for
/// other devices, pass only hints that apply to them.
std::optional<ConstructHint> find_unsupported(const std::vector<CompilerError>& errors,
                                              const std::vector<ConstructHint>& hints);

} // namespace winnow::evaluators
