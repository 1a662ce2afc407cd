#pragma once

#include <cstddef>
#include <string_view>

namespace winnow {

/// No honest message nests as deeply. Copying or writing out a deeper one would exhaust the stack.
constexpr int kMostJsonLevels = 100;

/// Whether a JSON text has more levels. Counts brackets outside of strings only: the parser's own
/// way, a callback for each value, would double the time of parsing.
bool has_too_many_levels(std::string_view json);

/// The index of the quote that ends the JSON string which begins at `begin`; text.size(): it has
/// no end.
std::size_t json_string_end(std::string_view text, std::size_t begin);

} // namespace winnow
