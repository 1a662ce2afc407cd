#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// A preprocessing token of device code, as far as the source pass needs to tell them apart.
struct Token {
  enum class Kind : std::uint8_t { Identifier, Number, Text, Punctuation, Directive };
  Kind kind = Kind::Punctuation;
  std::size_t begin = 0; ///< byte range in the text
  std::size_t end = 0;
  int line = 1;
  std::string_view text;   ///< the range itself; a directive is its whole line
  bool raw_string = false; ///< a directive with a raw string in it
};

/// `source` as a compiler sees it after its first phases: CR and CRLF line ends become LF, lines
/// ending in a backslash are joined. Joined lines leave their line ends behind the last of them, so
/// that every later line keeps its number.
std::string normalise_source(std::string_view source);

/// Tokens without comments and white space. `source` comes from normalise_source(); the tokens
/// point into it. Never fails: what cannot be understood becomes punctuation, unclosed text ends
/// with it.
std::vector<Token> tokenize(std::string_view source);

bool is_identifier(std::string_view text);

} // namespace winnow::evaluators
