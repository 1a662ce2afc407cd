#include "base/error.h"
#include "base/text/positioned_json.h"
#include "base/text/toml_reader.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace winnow {
namespace {

// toml++ and its readers recurse for each name of a dotted key and for each bracket.
constexpr int kMostNamesOfKey = 32;
constexpr int kMostBrackets = 64;

/// The end of the string that begins at `at`, or of the text.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool is_long = text.substr(at, 3) == std::string(3, quote);
  const std::string end(is_long ? 3 : 1, quote);
  for (std::size_t i = at + end.size(); i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (text.substr(i, end.size()) == end) {
      i += end.size();
      // A long string may have two quotes of its own before its end.
      const std::string_view own = text.substr(i, is_long ? 2 : 0);
      return i + std::min(own.find_first_not_of(quote), own.size());
    } else if (text[i] == '\n' && !is_long) {
      return i; // the parser will refuse it
    }
  }
  return text.size();
}

bool goes_on_with_key(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_- \t\"'.").find(c) != std::string_view::npos;
}

} // namespace

void TomlReader::refuse_dangerous(std::string_view text, const std::string& file) {
  const auto refuse = [&](std::size_t at, const char* what, const std::string& expected) {
    throw UsageError(to_string(Diagnostic{file, position_of(text, at), what, expected}));
  };
  const auto other = std::find_if(text.begin(), text.end(),
                                  [](char c) { return static_cast<unsigned char>(c) >= 0x80U; });
  if (other != text.end()) {
    refuse(static_cast<std::size_t>(other - text.begin()), "this character is not ASCII",
           "ASCII, in comments too");
  }
  int brackets = 0;
  int names = 1;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    brackets += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    names = !goes_on_with_key(c) ? 1 : names + (c == '.' ? 1 : 0);
    if (names > kMostNamesOfKey) {
      refuse(i, "this key has too many names", fmt::format("at most {}", kMostNamesOfKey));
    }
    if (brackets > kMostBrackets) {
      refuse(i, "too many brackets within each other", fmt::format("at most {}", kMostBrackets));
    }
    i = c == '"' || c == '\'' ? end_of_string(text, i)
        : c == '#'            ? std::min(text.find('\n', i), text.size())
                              : i + 1;
  }
}

} // namespace winnow
