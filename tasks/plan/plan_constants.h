#pragma once

#include "tasks/plan/plan.h"

#include <optional>
#include <string>
#include <string_view>

namespace winnow::tasks {

/// Why `text` cannot be the expression of a device constant: a compiler is to see exactly one
/// expression, so nothing in it may end it, open a comment or begin a directive. nullopt: it can.
std::optional<std::string> device_constant_mistake(std::string_view text);

/// The expression with {NAME} replaced for each parameter NAME: how CompiledFacts::constants calls
/// it.
std::string substituted(std::string_view device_constant, const ParameterChoice& choice);

} // namespace winnow::tasks
