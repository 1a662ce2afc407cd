#include "tasks/source_scan.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace winnow::tasks {
namespace {

constexpr std::string_view kPlanBegin = "/*@winnow";
constexpr std::string_view kPlanEnd = "@*/";

struct Token {
  enum class Kind : std::uint8_t { Identifier, Punctuation, Literal };
  Kind kind = Kind::Punctuation;
  std::string_view text;
  std::size_t offset = 0;
};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}
bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

class Scanner {
public:
  explicit Scanner(std::string_view text) : text_(text) {}

  SourceScan scan() {
    while (offset_ < text_.size()) {
      step();
    }
    find_kernels();
    return std::move(result_);
  }

private:
  std::string_view rest() const { return text_.substr(offset_); }

  // Whether a backslash continues the line that ends here.
  bool is_continued() const {
    std::string_view before = text_.substr(0, offset_);
    if (before.ends_with('\r')) {
      before.remove_suffix(1);
    }
    return before.ends_with('\\');
  }

  void step() {
    const char c = text_[offset_];
    if (c == '\n') {
      line_start_ = true;
      in_directive_ = in_directive_ && is_continued();
      ++offset_;
    } else if (is_space(c)) {
      ++offset_;
    } else if (rest().starts_with("//")) {
      line_comment();
    } else if (rest().starts_with("/*")) {
      block_comment();
    } else if (c == '#' && line_start_) {
      directive();
    } else {
      line_start_ = false;
      token(c);
    }
  }

  void token(char c) {
    if (c == '"' || c == '\'') {
      quoted(c);
    } else if (is_digit(c)) {
      number();
    } else if (is_word(c)) {
      word();
    } else {
      punctuation(c);
    }
  }

  void punctuation(char c) {
    if (rest().starts_with("##")) {
      result_.pastes_tokens = true;
    }
    if (!in_directive_) {
      result_.open_braces += c == '{' ? 1 : c == '}' ? -1 : 0;
    }
    add(Token::Kind::Punctuation, 1);
  }

  void add(Token::Kind kind, std::size_t length) {
    if (!in_directive_) {
      tokens_.push_back({kind, text_.substr(offset_, length), offset_});
    }
    offset_ += length;
  }

  void line_comment() {
    while (offset_ < text_.size() && text_[offset_] != '\n') {
      // A backslash before the line's end continues the comment.
      const bool continued = rest().starts_with("\\\n") || rest().starts_with("\\\r\n");
      offset_ += continued ? rest().find('\n') + 1 : 1;
    }
  }

  void block_comment() {
    if (rest().starts_with(kPlanBegin)) {
      return plan_comment();
    }
    const std::size_t end = text_.find("*/", offset_ + 2);
    if (end == std::string_view::npos) {
      result_.unclosed = offset_;
    }
    offset_ = end == std::string_view::npos ? text_.size() : end + 2;
  }

  void plan_comment() {
    SourceScan::PlanComment plan;
    plan.begin = offset_;
    plan.json_begin = offset_ + kPlanBegin.size();
    const std::size_t end = text_.find(kPlanEnd, plan.json_begin);
    plan.closed = end != std::string_view::npos;
    plan.json_end = plan.closed ? end : text_.size();
    plan.end = plan.closed ? end + kPlanEnd.size() : text_.size();
    offset_ = plan.end;
    result_.plans.push_back(plan);
  }

  void skip_spaces() {
    while (offset_ < text_.size() && is_space(text_[offset_])) {
      ++offset_;
    }
  }

  void directive() {
    const std::size_t begin = offset_++;
    line_start_ = false;
    in_directive_ = true;
    skip_spaces();
    if (!rest().starts_with("include")) {
      return;
    }
    offset_ += std::string_view("include").size();
    skip_spaces();
    const char open = offset_ < text_.size() ? text_[offset_] : '\0';
    if (open != '<' && open != '"') {
      return;
    }
    const std::size_t line_end = std::min(text_.find('\n', offset_), text_.size());
    const std::size_t close = text_.find(open == '<' ? '>' : '"', offset_ + 1);
    if (close < line_end) {
      result_.includes.push_back(
          {begin, close + 1, std::string(text_.substr(offset_ + 1, close - offset_ - 1))});
      offset_ = close + 1;
    } else {
      offset_ = line_end;
    }
  }

  void quoted(char quote) {
    const std::size_t begin = offset_;
    std::size_t end = offset_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2 : 1;
    }
    add(Token::Kind::Literal, std::min(end + 1, text_.size()) - begin);
    if (end < text_.size() && text_[end] == '\n') {
      --offset_; // an unclosed literal ends with its line; the compiler reports the error
    }
  }

  void number() {
    std::size_t end = offset_;
    while (end < text_.size()) {
      const bool separator =
          text_[end] == '\'' && end + 1 < text_.size() && is_word(text_[end + 1]);
      if (!is_word(text_[end]) && text_[end] != '.' && !separator) {
        break;
      }
      ++end;
    }
    add(Token::Kind::Literal, end - offset_);
  }

  void word() {
    std::size_t end = offset_;
    while (end < text_.size() && is_word(text_[end])) {
      ++end;
    }
    const std::string_view name = text_.substr(offset_, end - offset_);
    constexpr std::array<std::string_view, 5> kRawPrefixes{"R", "LR", "uR", "UR", "u8R"};
    const bool raw =
        std::find(kRawPrefixes.begin(), kRawPrefixes.end(), name) != kRawPrefixes.end();
    if (raw && end < text_.size() && text_[end] == '"') {
      return raw_string(end);
    }
    result_.identifiers.emplace(name);
    add(Token::Kind::Identifier, name.size());
  }

  void raw_string(std::size_t quote) {
    const std::size_t open = text_.find('(', quote);
    if (open == std::string_view::npos ||
        open - quote > 17) { // delimiters have at most 16 characters
      offset_ = quote;
      return;
    }
    const std::string close = ")" + std::string(text_.substr(quote + 1, open - quote - 1)) + "\"";
    const std::size_t end = text_.find(close, open);
    if (end == std::string_view::npos) {
      result_.unclosed = offset_;
    }
    const std::size_t past = end == std::string_view::npos ? text_.size() : end + close.size();
    add(Token::Kind::Literal, past - offset_);
  }

  void find_kernels() {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].text != "__global__") {
        continue;
      }
      const Token* name = kernel_name(i + 1);
      if (name != nullptr && seen.insert(name->text).second) {
        result_.kernels.push_back({std::string(name->text), name->offset});
      }
    }
  }

  // The identifier before the parameter list, or before '<' of a specialisation.
  const Token* kernel_name(std::size_t i) const {
    for (; i + 1 < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.text == "{" || token.text == ";") {
        return nullptr;
      }
      const std::string_view next = tokens_[i + 1].text;
      if (token.kind != Token::Kind::Identifier || (next != "(" && next != "<")) {
        continue;
      }
      const bool attribute = token.text.starts_with("__") || token.text == "alignas";
      if (!attribute) {
        return &token;
      }
      i = past_parentheses(i + 1);
    }
    return nullptr;
  }

  // The index of the token that closes the parenthesis at `i`.
  std::size_t past_parentheses(std::size_t i) const {
    int depth = 0;
    for (; i < tokens_.size(); ++i) {
      depth += tokens_[i].text == "(" ? 1 : tokens_[i].text == ")" ? -1 : 0;
      if (depth == 0) {
        break;
      }
    }
    return i;
  }

  std::string_view text_;
  std::size_t offset_ = 0;
  bool line_start_ = true;
  bool in_directive_ = false;
  std::vector<Token> tokens_;
  SourceScan result_;
};

} // namespace

SourceScan scan_source(std::string_view text) {
  return Scanner(text).scan();
}

} // namespace winnow::tasks
