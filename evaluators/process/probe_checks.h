#pragma once

#include <string_view>

namespace winnow::evaluators {

/// What the `_probe` child prints when all that its level promises holds.
constexpr std::string_view kProbeAnswer = "winnow probe: fenced in";
/// What stands before the remedy on its stderr when something does not.
constexpr std::string_view kRemedyMark = "remedy: ";

} // namespace winnow::evaluators
