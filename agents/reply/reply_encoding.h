#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

/// The text as plain lines of valid UTF-8 that end in LF. Byte order marks and other characters
/// without a width go, exotic spaces and NUL become a space, and what is no UTF-8 (a lone half of a
/// surrogate pair, too) becomes U+FFFD. Appends to `repairs` what was repaired, in words.
std::string repaired_encoding(std::string_view text, std::vector<std::string>& repairs);

/// Appends `what` unless it is there.
void note_repair(std::vector<std::string>& repairs, std::string what);

} // namespace winnow::agents
