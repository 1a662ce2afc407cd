#include "base/text/positioned_json.h"

#include "base/text.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace winnow {
namespace {

constexpr int kMaxJsonDepth = 64;
constexpr std::string_view kTooEarly = "the JSON ends too early";

void append_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80U) {
    put(code);
  } else if (code < 0x800U) {
    put(0xC0U | (code >> 6U));
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000U) {
    put(0xE0U | (code >> 12U));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | (code >> 18U));
    put(0x80U | ((code >> 12U) & 0x3FU));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

class JsonParser {
public:
  JsonParser(std::string_view text, SourcePosition start) : text_(text), at_(start) {}

  JsonValue parse() {
    skip_space();
    JsonValue root = value(0);
    skip_space();
    if (!at_end()) {
      throw JsonError(at_, "text after the end of the JSON", "nothing after the last brace");
    }
    return root;
  }

private:
  bool at_end() const { return offset_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[offset_]; }

  char take() {
    const char c = text_[offset_++];
    if (c == '\n') {
      ++at_.line;
      at_.column = 1;
    } else {
      ++at_.column;
    }
    return c;
  }

  bool accept(char c) {
    if (at_end() || peek() != c) {
      return false;
    }
    take();
    return true;
  }

  void skip_space() {
    while (!at_end() && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')) {
      take();
    }
    if (peek() == '/') {
      throw JsonError(at_, "a comment in the JSON", "JSON without comments");
    }
  }

  JsonError unexpected(const std::string& expected) const {
    if (at_end()) {
      return {at_, std::string(kTooEarly), expected};
    }
    const auto byte = static_cast<unsigned char>(peek());
    const bool printable = byte > 0x20 && byte < 0x7f;
    return {at_,
            printable ? fmt::format("unexpected '{}'", peek())
                      : fmt::format("unexpected byte 0x{:02x}", byte),
            expected};
  }

  JsonValue value(int depth) {
    if (depth >= kMaxJsonDepth) {
      throw JsonError(at_, "the JSON is nested too deeply",
                      fmt::format("at most {} levels", kMaxJsonDepth));
    }
    JsonValue result;
    result.at = at_;
    const char c = peek();
    if (c == '{') {
      object(result, depth);
    } else if (c == '[') {
      array(result, depth);
    } else if (c == '"') {
      ++result.at.column;
      result.kind = JsonValue::Kind::String;
      result.text = string();
    } else if (c == '-' || is_digit(c)) {
      number(result);
    } else {
      word(result);
    }
    result.end = at_;
    return result;
  }

  void object(JsonValue& result, int depth) {
    result.kind = JsonValue::Kind::Object;
    take();
    skip_space();
    if (accept('}')) {
      return;
    }
    do {
      skip_space();
      const SourcePosition at = at_;
      if (peek() != '"') {
        throw unexpected(peek() == '}' ? "no comma before '}'" : "a key in double quotes");
      }
      std::string key = string();
      if (result.find(key) != nullptr) {
        throw JsonError(at, fmt::format("the key '{}' appears twice", key), "each key once");
      }
      skip_space();
      if (!accept(':')) {
        throw unexpected(fmt::format("':' after \"{}\"", key));
      }
      skip_space();
      result.members.push_back({std::move(key), at, value(depth + 1)});
      skip_space();
    } while (accept(','));
    if (!accept('}')) {
      throw unexpected("',' or '}'");
    }
  }

  void array(JsonValue& result, int depth) {
    result.kind = JsonValue::Kind::Array;
    take();
    skip_space();
    if (accept(']')) {
      return;
    }
    do {
      skip_space();
      if (peek() == ']') {
        throw unexpected("no comma before ']'");
      }
      result.items.push_back(value(depth + 1));
      skip_space();
    } while (accept(','));
    if (!accept(']')) {
      throw unexpected("',' or ']'");
    }
  }

  void word(JsonValue& result) {
    for (const std::string_view known : {"true", "false", "null"}) {
      if (text_.substr(offset_).starts_with(known)) {
        result.kind = known == "null" ? JsonValue::Kind::Null : JsonValue::Kind::Boolean;
        result.boolean = known == "true";
        for (std::size_t i = 0; i < known.size(); ++i) {
          take();
        }
        return;
      }
    }
    throw unexpected(peek() == '\''
                         ? "double quotes, not single ones"
                         : "a value: a number, \"...\", [...], {...}, true, false, null");
  }

  void number(JsonValue& result) {
    const std::size_t begin = offset_;
    accept('-');
    const bool leading_zero = peek() == '0';
    const std::size_t digits = skip_digits();
    bool valid = digits > 0 && !(leading_zero && digits > 1);
    bool real = false;
    if (accept('.')) {
      real = true;
      valid = skip_digits() > 0 && valid;
    }
    if (accept('e') || accept('E')) {
      real = true;
      if (!accept('+')) {
        accept('-');
      }
      valid = skip_digits() > 0 && valid;
    }
    result.text = text_.substr(begin, offset_ - begin);
    result.kind = real ? JsonValue::Kind::Real : JsonValue::Kind::Integer;
    if (!valid || !convert(result)) {
      throw JsonError(result.at, fmt::format("'{}' is not a number that can be used", result.text),
                      "a 64-bit integer or a float");
    }
  }

  static bool convert(JsonValue& number) {
    const char* begin = number.text.data();
    const char* end = begin + number.text.size();
    if (std::from_chars(begin, end, number.real).ec != std::errc()) {
      return false;
    }
    return number.kind == JsonValue::Kind::Real ||
           std::from_chars(begin, end, number.integer).ec == std::errc();
  }

  std::size_t skip_digits() {
    const std::size_t begin = offset_;
    while (is_digit(peek())) {
      take();
    }
    return offset_ - begin;
  }

  std::string string() {
    const SourcePosition begin = at_;
    take();
    std::string content;
    while (true) {
      if (at_end() || peek() == '\n') {
        throw JsonError(begin, "a string without its closing quote", "'\"' on the same line");
      }
      if (static_cast<unsigned char>(peek()) < 0x20U && peek() != '\t') {
        throw unexpected("no control characters in a string");
      }
      const char c = take();
      if (c == '"') {
        return content;
      }
      if (c == '\\') {
        escape(content);
      } else {
        content.push_back(c);
      }
    }
  }

  void escape(std::string& content) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (accept('u')) {
      append_utf8(content, unicode_escape());
      return;
    }
    const std::size_t index = at_end() ? std::string_view::npos : kNames.find(peek());
    if (index == std::string_view::npos) {
      throw unexpected("one of \" \\ / b f n r t u after '\\'");
    }
    take();
    content.push_back(kMeanings[index]);
  }

  std::uint32_t four_hex_digits() {
    std::uint32_t code = 0;
    const std::string_view digits = text_.substr(offset_, 4);
    const auto [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error != std::errc() || stop != digits.data() + 4) {
      throw unexpected("four hexadecimal digits after \\u");
    }
    for (int i = 0; i < 4; ++i) {
      take();
    }
    return code;
  }

  std::uint32_t unicode_escape() {
    const SourcePosition at = at_;
    const std::uint32_t first = four_hex_digits();
    if (first < 0xD800U || first > 0xDFFFU) {
      return first;
    }
    if (first <= 0xDBFFU && accept('\\') && accept('u')) {
      const std::uint32_t second = four_hex_digits();
      if (second >= 0xDC00U && second <= 0xDFFFU) {
        return 0x10000U + ((first - 0xD800U) << 10U) + (second - 0xDC00U);
      }
    }
    throw JsonError(at, "half of a surrogate pair", "both halves, \\uD800 to \\uDBFF first");
  }

  std::string_view text_;
  std::size_t offset_ = 0;
  SourcePosition at_;
};

// The size of the character at `text[0]` in the file and in the decoded string, in bytes.
struct CharacterSize {
  std::size_t written;
  int decoded;
};

CharacterSize character_size(std::string_view text) {
  if (text.size() < 2 || text[0] != '\\') {
    return {1, 1};
  }
  if (text[1] != 'u') {
    return {2, 1};
  }
  std::uint32_t code = 0;
  const std::string_view digits = text.substr(2, 4);
  std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (code >= 0xD800U && code <= 0xDFFFU) {
    return {12, 4};
  }
  return {6, code < 0x80U ? 1 : code < 0x800U ? 2 : 3};
}

} // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  for (const JsonMember& member : members) {
    if (member.key == key) {
      return &member.value;
    }
  }
  return nullptr;
}

JsonValue parse_json(std::string_view text, SourcePosition start) {
  return JsonParser(text, start).parse();
}

std::string_view to_string(JsonValue::Kind kind) {
  return name_by_number(
      kind, {"null", "a boolean", "an integer", "a float", "a string", "a list", "an object"});
}

SourcePosition position_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin = before.rfind('\n') + 1; // npos + 1 is 0
  return {static_cast<int>(lines) + 1, static_cast<int>(before.size() - line_begin) + 1};
}

SourcePosition position_in_string(std::string_view file_text, SourcePosition at, int column) {
  std::size_t offset = 0;
  for (int line = 1; line < at.line && offset != std::string_view::npos; ++line) {
    const std::size_t end = file_text.find('\n', offset);
    offset = end == std::string_view::npos ? end : end + 1;
  }
  if (offset == std::string_view::npos) {
    return at;
  }
  offset += static_cast<std::size_t>(at.column - 1);
  SourcePosition result = at;
  for (int decoded = 1; decoded < column && offset < file_text.size();) {
    const CharacterSize size = character_size(file_text.substr(offset));
    offset += size.written;
    result.column += static_cast<int>(size.written);
    decoded += size.decoded;
  }
  return result;
}

} // namespace winnow
