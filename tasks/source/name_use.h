#pragma once

#include <optional>
#include <string_view>

namespace winnow::tasks {

/// The line of the device code that may refer to a global constant `name`; nullopt: none does. A
/// name inside the declaration that follows `template <int name>` refers to the template's own
/// parameter. In doubt (#if inside the declaration, macros with `##` or unbalanced brackets) a line
/// counts as a use.
std::optional<int> line_that_uses(std::string_view source, std::string_view name);

} // namespace winnow::tasks
