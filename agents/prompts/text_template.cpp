#include "agents/prompts/text_template.h"

#include "base/error.h"
#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
constexpr std::string_view kInWords =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.-";
constexpr std::string_view kBlanks = " \t";

/// A word in braces: "{{name}}", "{{ Name }", "{name}", "{{name".
struct Braced {
  std::size_t begin = 0, end = 0;  ///< of the word with its braces
  std::size_t open = 0, close = 0; ///< number of braces
  bool has_blanks = false;
  std::string word; ///< empty: there are no more
};

Braced next_braced(std::string_view text, std::size_t from) {
  const auto after = [&](std::string_view characters, std::size_t at) {
    return std::min(text.find_first_not_of(characters, at), text.size());
  };
  for (std::size_t at = text.find('{', from); at != std::string_view::npos;
       at = text.find('{', after("{", at))) {
    const std::size_t inside = after("{", at);
    const std::size_t word = after(kBlanks, inside);
    const std::size_t word_end = after(kInWords, word);
    const std::size_t close = after(kBlanks, word_end);
    const std::size_t end = after("}", close);
    const bool is_braced = inside - at >= 2 || end > close;
    if (is_braced && word < text.size() && kLetters.find(text[word]) != std::string_view::npos) {
      return {at,
              end,
              inside - at,
              end - close,
              word > inside || close > word_end,
              std::string(text.substr(word, word_end - word))};
    }
  }
  return {};
}

/// What is wrong with these braces; empty: nothing. One brace on each side and blanks, or one brace
/// and a word that is no name, are plain text.
std::string mistake_in(const Braced& braced, std::string_view written,
                       const std::vector<std::string>& names) {
  const auto is_name = [&](const std::string& word) { return contains(names, word); };
  std::string name = braced.word;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool is_double = braced.open >= 2 && braced.close >= 2;
  const bool is_single = braced.open == 1 && braced.close == 1;
  if (is_double && !is_name(name)) {
    return fmt::format("unknown placeholder {{{{{}}}}}{}", braced.word,
                       names.empty() ? "; this template has none" : suggestion(name, names));
  }
  const bool is_right = is_double && !braced.has_blanks && braced.word == name;
  const bool is_text = is_single && (braced.has_blanks || braced.word != name);
  return is_right || is_text || !is_name(name)
             ? ""
             : fmt::format("a placeholder is written {{{{{}}}}}, not {}{}", name, written,
                           is_single ? fmt::format("; plain text is written {{ {} }}", name) : "");
}

} // namespace

TextTemplate::TextTemplate(std::string text, const std::string& file,
                           const std::vector<std::string>& names) {
  std::size_t done = 0, from = 0;
  for (Braced found = next_braced(text, 0); !found.word.empty(); found = next_braced(text, from)) {
    const auto written = std::string_view(text).substr(found.begin, found.end - found.begin);
    if (const std::string mistake = mistake_in(found, written, names); !mistake.empty()) {
      const auto line =
          1 +
          std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(found.begin), '\n');
      throw UsageError(fmt::format("{}:{}: {}", file, line, mistake),
                       "correct the template, or remove it to use the built-in one");
    }
    from = found.end;
    if (found.open >= 2 && found.close >= 2) {
      const std::size_t begin = found.begin + found.open - 2;
      from = found.end - found.close + 2;
      parts_.push_back({text.substr(done, begin - done), std::move(found.word)});
      done = from;
    }
  }
  parts_.push_back({text.substr(done), ""});
}

std::string TextTemplate::fill(const std::map<std::string, std::string>& values) const {
  std::string filled;
  for (const Part& part : parts_) {
    filled += part.text;
    if (!part.name.empty()) {
      const std::string& value = values.at(part.name);
      filled.append(value, 0, value.find_last_not_of('\n') + 1);
    }
  }
  return filled;
}

bool TextTemplate::uses(const std::string& name) const {
  return find_named(parts_, name) != nullptr;
}

} // namespace winnow::agents
