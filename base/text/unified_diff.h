#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow {

/// The lines of a unified diff from `a` to `b`, with `context` equal lines around each change:
/// "@@ -1,3 +1,4 @@", " equal", "-only in a", "+only in b". Empty if the texts have equal lines.
/// The diff is a shortest one, unless the texts differ in thousands of lines: then a region may be
/// replaced as a whole.
std::vector<std::string> unified_diff(std::string_view a, std::string_view b,
                                      std::size_t context = 3);

} // namespace winnow
