#include "tasks/source/tokens.h"

#include "base/text.h"

#include <algorithm>
#include <array>

namespace winnow::tasks {
namespace {

bool is_letter(char c) {
  // Bytes of UTF-8 sequences may be part of identifiers.
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

bool is_raw_prefix(std::string_view word) {
  static constexpr std::array<std::string_view, 5> kRaw{"R", "LR", "uR", "UR", "u8R"};
  return contains(kRaw, word);
}

class Tokenizer {
public:
  Tokenizer(std::string_view source, SourceMarks* marks) : source_(source), marks_(marks) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) {
      step();
    }
    return std::move(tokens_);
  }

private:
  char peek(std::size_t offset = 0) const {
    return at_ + offset < source_.size() ? source_[at_ + offset] : '\0';
  }
  bool starts_with(std::string_view text) const { return source_.substr(at_, text.size()) == text; }

  void step() {
    const char c = peek();
    if (c == '\n') {
      ++line_;
      ++at_;
      line_start_ = true;
    } else if (is_blank(c)) {
      ++at_;
    } else if (starts_with("//") || starts_with("/*")) {
      skip_comment();
    } else if (line_start_ && (c == '#' || starts_with("%:"))) {
      read_directive();
    } else if (is_letter(c)) {
      read_word();
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      read_number();
    } else if (c == '"' || c == '\'') {
      read_quoted(at_);
    } else {
      read_punctuation();
    }
  }

  void add(Token::Kind kind, std::size_t begin, int line) {
    tokens_.push_back({kind, begin, at_, line, source_.substr(begin, at_ - begin), false});
    line_start_ = false;
  }

  // A block comment before `#` does not stop it from being a directive: line_start_ is kept.
  void skip_comment() {
    if (starts_with("//")) {
      at_ = std::min(source_.find('\n', at_), source_.size());
      return;
    }
    const bool plan = marks_ != nullptr && starts_with(kPlanBegin);
    const std::size_t begin = at_;
    const bool closed =
        plan ? skip_past(kPlanEnd, at_ + kPlanBegin.size()) : skip_past("*/", at_ + 2);
    if (plan) {
      marks_->plans.push_back({begin, at_, closed});
    } else if (!closed) {
      note_unclosed(begin);
    }
  }

  /// False, at the end of the text, where `close` does not come any more.
  bool skip_past(std::string_view close, std::size_t from) {
    const std::size_t found = source_.find(close, from);
    const bool closed = found != std::string_view::npos;
    const std::size_t end = closed ? found + close.size() : source_.size();
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
    return closed;
  }

  void note_unclosed(std::size_t begin) {
    if (marks_ != nullptr) {
      marks_->unclosed = begin;
    }
  }

  // To the end of the line, past block comments that span lines.
  void read_directive() {
    const std::size_t begin = at_;
    const int line = line_;
    bool raw = false;
    while (at_ < source_.size() && peek() != '\n') {
      if (starts_with("//") || starts_with("/*")) {
        skip_comment();
      } else if (peek() == '"' || peek() == '\'') {
        skip_quoted();
      } else if (is_letter(peek()) || is_digit(peek())) {
        const std::size_t word = at_;
        while (is_letter(peek()) || is_digit(peek())) {
          ++at_;
        }
        raw = raw || (peek() == '"' && is_raw_prefix(source_.substr(word, at_ - word)));
      } else {
        ++at_;
      }
    }
    add(Token::Kind::Directive, begin, line);
    tokens_.back().raw_string = raw;
    line_start_ = true;
  }

  void read_word() {
    const std::size_t begin = at_;
    while (is_letter(peek()) || is_digit(peek())) {
      ++at_;
    }
    const std::string_view word = source_.substr(begin, at_ - begin);
    static constexpr std::array<std::string_view, 4> kPrefix{"L", "u", "U", "u8"};
    if (peek() == '"' && is_raw_prefix(word)) {
      read_raw_string(begin);
    } else if ((peek() == '"' || peek() == '\'') && contains(kPrefix, word)) {
      read_quoted(begin);
    } else {
      add(Token::Kind::Identifier, begin, line_);
    }
  }

  void read_raw_string(std::size_t begin) {
    const int line = line_;
    const std::size_t open = source_.find('(', at_);
    const std::string delimiter =
        ")" +
        std::string(source_.substr(at_ + 1, open == std::string_view::npos ? 0 : open - at_ - 1)) +
        "\"";
    if (!skip_past(delimiter, open)) {
      note_unclosed(begin);
    }
    add(Token::Kind::Text, begin, line);
  }

  void read_number() {
    const std::size_t begin = at_;
    while (at_ < source_.size()) {
      const char c = peek();
      const char last = source_[at_ - (at_ > begin ? 1 : 0)];
      const bool exponent = at_ > begin && (c == '+' || c == '-') &&
                            (last == 'e' || last == 'E' || last == 'p' || last == 'P');
      const bool separator = c == '\'' && (is_letter(peek(1)) || is_digit(peek(1)));
      if (!is_letter(c) && !is_digit(c) && c != '.' && !exponent && !separator) {
        break;
      }
      ++at_;
    }
    add(Token::Kind::Number, begin, line_);
  }

  // A string or character literal ends at its line's end at the latest, as in a compiler.
  void skip_quoted() {
    const char quote = peek();
    ++at_;
    while (at_ < source_.size() && peek() != quote && peek() != '\n') {
      at_ += peek() == '\\' && peek(1) != '\n' ? 2 : 1;
    }
    at_ = std::min(at_ + (peek() == quote ? 1U : 0U), source_.size());
  }

  void read_quoted(std::size_t begin) {
    const int line = line_;
    skip_quoted();
    add(Token::Kind::Text, begin, line);
  }

  void read_punctuation() {
    static constexpr std::array<std::string_view, 4> kLong{"<<<", ">>>", "::", "##"};
    const std::size_t begin = at_;
    at_ += 1;
    for (const std::string_view text : kLong) {
      if (source_.substr(begin, text.size()) == text) {
        at_ = begin + text.size();
        break;
      }
    }
    add(Token::Kind::Punctuation, begin, line_);
  }

  std::string_view source_;
  SourceMarks* marks_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_start_ = true;
  std::vector<Token> tokens_;
};

} // namespace

std::string normalise_source(std::string_view source, std::vector<std::size_t>* offsets) {
  std::string out;
  out.reserve(source.size() + 1);
  std::size_t owed_lines = 0;
  const auto note = [&](std::size_t from) {
    if (offsets != nullptr) {
      offsets->resize(out.size(), from);
    }
  };
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r' || source[i] == '\n') {
      i += source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n' ? 1 : 0;
      // White space between the backslash and the line end is forgiven by both compilers.
      const std::size_t last = out.find_last_not_of(" \t\v\f");
      if (last != std::string::npos && out[last] == '\\') {
        out.resize(last);
        ++owed_lines;
      } else {
        out.append(owed_lines + 1, '\n');
        owed_lines = 0;
      }
    } else {
      out += source[i];
    }
    note(i);
  }
  out.append(owed_lines + (out.empty() || out.back() != '\n' ? 1 : 0), '\n');
  note(source.size());
  return out;
}

std::vector<Token> tokenize(std::string_view source, SourceMarks* marks) {
  return Tokenizer(source, marks).run();
}

} // namespace winnow::tasks
