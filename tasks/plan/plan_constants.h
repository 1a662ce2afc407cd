#pragma once

#include "tasks/plan/kernel_file.h"
#include "tasks/plan/plan.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// Why `text` cannot be the expression of a device constant; nullopt if it can. The compiler must
/// see exactly one expression. So `text` must not end the expression, open a comment or begin a
/// directive.
std::optional<std::string> device_constant_mistake(std::string_view text);

/// Replaces {NAME} by the value of each parameter NAME. CompiledFacts::constants uses the result as
/// key.
std::string substituted(std::string_view device_constant, const ParameterChoice& choice);

/// The distinct device constants of the plan with {NAME} placeholders replaced.
/// CompiledFacts::constants must have a value for each. Appends errors to `errors`.
std::vector<std::string> device_constants(const KernelFile& file, const ParameterChoice& choice,
                                          std::vector<Diagnostic>& errors);

/// Calls `replace` with the trimmed text of each {INSIDE} without inner braces, and substitutes the
/// result. If the result is nullopt, the braces are C++ and stay.
std::string
replace_placeholders(std::string_view text,
                     const std::function<std::optional<std::string>(std::string_view)>& replace);

} // namespace winnow::tasks
