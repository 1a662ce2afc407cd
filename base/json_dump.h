#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace winnow {

/// The value on one line, without a line end. U+FFFD replaces invalid UTF-8, because JSON must be
/// valid UTF-8.
std::string json_line(const nlohmann::json& value);

/// The value indented by two spaces, with a line end.
std::string json_document(const nlohmann::json& value);

/// The text with what makes JSON unreadable for no good reason repaired: what is no UTF-8, and
/// escapes such as \ud83d of one half of a surrogate pair, which become U+FFFD.
std::string with_readable_text(std::string_view json);

} // namespace winnow
