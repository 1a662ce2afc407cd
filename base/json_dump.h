#pragma once

#include <cstddef>
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

/// No honest message nests as deeply. Copying or writing out a deeper one would exhaust the stack.
constexpr int kMostJsonLevels = 100;

/// Whether a JSON text has more levels. Counts brackets outside of strings only: the parser's own
/// way, a callback for each value, would double the time of parsing.
bool has_too_many_levels(std::string_view json);

/// The index of the quote that ends the JSON string which begins at `begin`; text.size(): it has
/// no end.
std::size_t json_string_end(std::string_view text, std::size_t begin);

} // namespace winnow
