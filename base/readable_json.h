#pragma once

#include <string>
#include <string_view>

namespace winnow {

/// The text with what makes JSON unreadable for no good reason repaired: what is no UTF-8, and
/// escapes such as \ud83d of one half of a surrogate pair, which become U+FFFD.
std::string with_readable_text(std::string_view json);

} // namespace winnow
