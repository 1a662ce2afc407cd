#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// A preprocessing token of device code, as detailed as the source pass needs it.
struct Token {
  enum class Kind : std::uint8_t { Identifier, Number, Text, Punctuation, Directive };
  Kind kind = Kind::Punctuation;
  std::size_t begin = 0; ///< byte range in the text
  std::size_t end = 0;
  int line = 1;
  std::string_view text;   ///< the text of the range; for a directive, its whole line
  bool raw_string = false; ///< the token is a directive with a raw string in it
};

/// `source` after a compiler's first phases: CR and CRLF become LF, and lines that end in a
/// backslash are joined. The removed line ends are added after the joined line, so that later lines
/// keep their numbers.
std::string normalise_source(std::string_view source);

/// Tokens without comments and white space. `source` comes from normalise_source(); the tokens
/// point into it. Never fails: unknown characters become punctuation, and unclosed text ends at the
/// end of the source.
std::vector<Token> tokenize(std::string_view source);

bool is_identifier(std::string_view text);

} // namespace winnow::evaluators
