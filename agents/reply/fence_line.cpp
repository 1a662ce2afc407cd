#include "agents/reply/fence_line.h"

#include "base/text.h"

#include <algorithm>
#include <cctype>

namespace winnow::agents {
namespace {

constexpr std::size_t kFenceLength = 3;
constexpr std::string_view kBlanks = " \t";

std::size_t marks_at(std::string_view text) {
  return text.empty() || (text[0] != '`' && text[0] != '~')
             ? 0
             : std::min(text.find_first_not_of(text[0]), text.size());
}

/// The place of the first run of at least `length` marks.
std::size_t find_run(std::string_view line, char mark, std::size_t length) {
  std::size_t at = line.find(mark);
  while (at != std::string_view::npos && marks_at(line.substr(at)) < length) {
    at = line.find(mark, at + marks_at(line.substr(at)));
  }
  return at;
}

bool is_language(std::string_view word) {
  constexpr std::string_view kLanguages =
      " cuda cu c cpp c++ cc cxx h hpp hip json text txt bash sh python markdown md diff ptx asm "
      "toml patch yaml glsl opencl console plain ";
  return kLanguages.find(" " + std::string(word) + " ") != std::string_view::npos;
}

std::string language_of(std::string_view info) {
  std::string word(info.substr(0, info.find_first_of(" \t{,:*/")));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

/// Whether the words behind the marks of a fence are those of an opening fence: a language, one
/// word, attributes, or the code itself.
bool is_info(std::string_view info) {
  const bool one_word = info.find_first_of(kBlanks) == std::string_view::npos;
  return is_language(language_of(info)) || info.front() == '{' || info.starts_with("/*") ||
         info.find('=') != std::string_view::npos ||
         (one_word && std::isalnum(static_cast<unsigned char>(info.front())) != 0);
}

/// The length of "> ", "1. ", "- ", "**" and spaces at the begin of a line.
std::size_t container_length(std::string_view line) {
  std::size_t at = 0;
  for (int i = 0; i < 8; ++i) {
    at = std::min(line.find_first_not_of(kBlanks, at), line.size());
    const std::string_view rest = line.substr(at);
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const bool numbered = digits > 0 && digits < 10 && digits < rest.size() &&
                          (rest[digits] == '.' || rest[digits] == ')');
    if (rest.starts_with("**") || rest.starts_with("__")) {
      at += 2;
    } else if (numbered) {
      at += digits + 1;
    } else if (!rest.empty() &&
               (rest[0] == '>' || rest[0] == '-' || rest[0] == '*' || rest[0] == '+')) {
      at += 1;
    } else {
      break;
    }
  }
  return at;
}

/// The place of a fence behind prose, "Here it is: ```cuda"; npos: there is none.
std::size_t fence_behind_prose(std::string_view line) {
  const std::size_t at = line.find("```");
  if (at == std::string_view::npos || at == 0) {
    return std::string_view::npos;
  }
  const std::string_view rest = line.substr(at);
  const std::string_view info = trim(rest.substr(marks_at(rest)));
  const char before = trim(line.substr(0, at)).empty() ? ':' : trim(line.substr(0, at)).back();
  const bool introduced = before == ':' || before == '>' || before == '*' || before == '"';
  const bool one_word = info.find_first_of(kBlanks) == std::string_view::npos;
  const bool opens =
      info.empty() ? introduced
                   : is_info(info) && (introduced || (one_word && is_language(language_of(info))));
  return opens ? at : std::string_view::npos;
}

} // namespace

std::optional<Fence> opening_fence(std::string_view line) {
  std::size_t at = container_length(line);
  if (marks_at(line.substr(at)) < kFenceLength) {
    at = fence_behind_prose(line);
  }
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = line.substr(at);
  Fence fence;
  fence.mark = rest[0];
  fence.length = marks_at(rest);
  const std::string_view before = line.substr(0, at);
  const bool quoted =
      trim(before).starts_with('>') && before.find_first_not_of(" \t>-*") == before.npos;
  fence.quotes = quoted ? static_cast<int>(std::count(before.begin(), before.end(), '>')) : 0;
  fence.indent = quoted ? 0 : at;
  std::string_view info = trim(rest.substr(fence.length));
  if (info.find('`') != std::string_view::npos) {
    return std::nullopt; // ```x``` on one line is inline code
  }
  if (const std::size_t code = info.find("/*"); code != std::string_view::npos) {
    fence.code = info.substr(code);
    info = trim(info.substr(0, code));
  }
  fence.bare = info.find_first_not_of("*_") == info.npos && fence.code.empty();
  fence.language = language_of(info);
  return fence;
}

std::optional<ClosingFence> closing_fence(std::string_view line, const Fence& open) {
  const std::size_t at = find_run(line, open.mark, open.length);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view before = line.substr(0, at), rest = line.substr(at);
  const std::string_view behind = trim(rest.substr(marks_at(rest)));
  const bool starts_line = trim(before).empty() || trim(before) == "**";
  if (starts_line) {
    return behind.empty() || !is_info(behind) ? std::optional(ClosingFence{}) : std::nullopt;
  }
  // Behind code: `}```. In a comment the marks are text, and so is inline code.
  const bool is_text =
      open.mark != '`' || before.find("//") != std::string_view::npos ||
      before.find("/*") != std::string_view::npos || trim(before).starts_with('*') ||
      before.find('`') != std::string_view::npos || behind.find('`') != std::string_view::npos;
  return is_text ? std::nullopt : std::optional(ClosingFence{before});
}

std::string_view without_quote(std::string_view line, const Fence& open) {
  for (int i = 0; i < open.quotes; ++i) {
    const std::size_t quote = line.find_first_not_of(kBlanks);
    if (quote == std::string_view::npos || line[quote] != '>') {
      break;
    }
    line.remove_prefix(quote + 1);
    line.remove_prefix(line.starts_with(' ') ? 1 : 0);
  }
  return line;
}

} // namespace winnow::agents
