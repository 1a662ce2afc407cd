#pragma once

#include <string>

namespace winnow {

/// A word for a POSIX shell, in quotes if necessary.
std::string shell_word(const std::string& text);

} // namespace winnow
