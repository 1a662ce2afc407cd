#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace winnow::tasks {

/// Calls `replace` with the trimmed text of each {INSIDE} without inner braces, and substitutes the
/// result. If the result is nullopt, the braces are C++ and stay.
std::string
replace_placeholders(std::string_view text,
                     const std::function<std::optional<std::string>(std::string_view)>& replace);

} // namespace winnow::tasks
