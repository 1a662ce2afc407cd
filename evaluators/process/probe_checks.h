#pragma once

#include <string_view>

namespace winnow::evaluators {

/// How the `_probe` child begins its stdout when all that its level promises holds.
constexpr std::string_view kProbeAnswer = "winnow probe: ";
/// What stands before the remedy on its stderr when something does not.
constexpr std::string_view kRemedyMark = "remedy: ";

} // namespace winnow::evaluators
