#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// A preprocessing token of device code, as far as its readers need to tell them apart: the parser
/// of kernel files and the passes that prepare a source for a compiler.
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
/// that every later line keeps its number. `offsets`, if any, receives where each byte comes from.
std::string normalise_source(std::string_view source, std::vector<std::size_t>* offsets = nullptr);

/// What the tokens do not tell. Offsets in bytes.
struct SourceMarks {
  struct PlanComment {
    std::size_t begin = 0; ///< of "/*@winnow"
    std::size_t end = 0;   ///< past "@*/", or the end of the text when not closed
    bool closed = false;
  };
  std::vector<PlanComment> plans;
  std::optional<std::size_t> unclosed; ///< a comment or raw string that never ends
};

/// Tokens without comments and white space. `source` comes from normalise_source(); the tokens
/// point into it. Never fails: what cannot be understood becomes punctuation, unclosed text ends
/// with it. With `marks`, a plan comment ends at "@*/" instead of "*/".
std::vector<Token> tokenize(std::string_view source, SourceMarks* marks = nullptr);

constexpr std::string_view kPlanBegin = "/*@winnow";
constexpr std::string_view kPlanEnd = "@*/";

} // namespace winnow::tasks
