#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace winnow::tasks {

/// Replaces each {INSIDE} without inner braces by what `replace` makes of the trimmed INSIDE;
/// where that is nullopt, the braces are C++ and stay.
std::string
replace_placeholders(std::string_view text,
                     const std::function<std::optional<std::string>(std::string_view)>& replace);

} // namespace winnow::tasks
