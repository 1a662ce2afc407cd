#include "base/text/toml.h"

#include "base/error.h"
#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include <fmt/format.h>

namespace winnow {

/// toml++ checks its internal assumptions with TOML_ASSERT. Some malformed documents break them
/// ("[?" in 3.3). The default TOML_ASSERT ends the process, or is undefined behaviour under NDEBUG.
/// This function throws TomlAssertion instead, and parse_toml() reports the error.
[[noreturn]] void toml_assertion_failed(const char* expression);

} // namespace winnow

#define TOML_ASSERT(expression)                                                                    \
  (static_cast<bool>(expression) ? static_cast<void>(0)                                            \
                                 : ::winnow::toml_assertion_failed(#expression))
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace winnow {
namespace {

/// Thrown when a document breaks an assertion inside toml++.
struct TomlAssertion : std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] void fail(const std::string& file, SourcePosition at, std::string_view what) {
  throw UsageError(fmt::format("{}:{}:{}: {}", file, at.line, at.column, what));
}

void require_ascii(std::string_view text, const std::string& file) {
  const auto other = std::find_if(text.begin(), text.end(),
                                  [](char c) { return static_cast<unsigned char>(c) >= 0x80U; });
  if (other == text.end()) {
    return;
  }
  fail(file, position_of(text, static_cast<std::size_t>(other - text.begin())),
       "this character is not ASCII; expected ASCII, in comments too");
}

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
      return i + end.size();
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

void require_shallow(std::string_view text, const std::string& file) {
  int brackets = 0;
  int names = 1;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    brackets += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    names = !goes_on_with_key(c) ? 1 : names + (c == '.' ? 1 : 0);
    if (names > kMostNamesOfKey) {
      fail(file, position_of(text, i),
           fmt::format("this key has too many names; expected at most {}", kMostNamesOfKey));
    }
    if (brackets > kMostBrackets) {
      fail(file, position_of(text, i),
           fmt::format("too many brackets within each other; expected at most {}", kMostBrackets));
    }
    i = c == '"' || c == '\'' ? end_of_string(text, i)
        : c == '#'            ? std::min(text.find('\n', i), text.size())
                              : i + 1;
  }
}

bool breaks_assertion(std::string_view text) {
  try {
    static_cast<void>(toml::parse(text));
  } catch (const toml::parse_error&) { // a cut document often has a syntax error too
  } catch (const TomlAssertion&) {
    return true;
  }
  return false;
}

/// The end of the longest beginning of `text` that breaks no assertion of toml++: an assertion
/// carries no position.
SourcePosition end_of_unbroken(std::string_view text) {
  std::size_t fine = 0;
  std::size_t broken = text.size();
  while (broken - fine > 1) {
    const std::size_t middle = fine + (broken - fine) / 2;
    (breaks_assertion(text.substr(0, middle)) ? broken : fine) = middle;
  }
  return position_of(text, fine);
}

SourcePosition position(const toml::source_region& region) {
  return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

JsonValue to_value(const toml::node& node);

std::vector<JsonMember> to_members(const toml::table& table) {
  std::vector<JsonMember> members;
  for (const auto& [key, node] : table) {
    members.push_back({std::string(key.str()), position(key.source()), to_value(node)});
  }
  std::stable_sort(members.begin(), members.end(), [](const JsonMember& a, const JsonMember& b) {
    return std::pair(a.at.line, a.at.column) < std::pair(b.at.line, b.at.column);
  });
  return members;
}

JsonValue to_value(const toml::node& node) {
  JsonValue value;
  value.at = position(node.source());
  if (const auto* text = node.as_string()) {
    value.kind = JsonValue::Kind::String;
    value.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value.kind = JsonValue::Kind::Integer;
    value.integer = integer->get();
    value.real = static_cast<double>(value.integer);
  } else if (const auto* real = node.as_floating_point()) {
    value.kind = JsonValue::Kind::Real;
    value.real = real->get();
  } else if (const auto* boolean = node.as_boolean()) {
    value.kind = JsonValue::Kind::Boolean;
    value.boolean = boolean->get();
  } else if (const auto* array = node.as_array()) {
    value.kind = JsonValue::Kind::Array;
    for (const toml::node& item : *array) {
      value.items.push_back(to_value(item));
    }
  } else if (const auto* table = node.as_table()) {
    value.kind = JsonValue::Kind::Object;
    value.members = to_members(*table);
  }
  return value;
}

} // namespace

void toml_assertion_failed(const char* expression) {
  throw TomlAssertion(expression);
}

JsonValue parse_toml(std::string_view text, const std::string& file) {
  require_ascii(text, file);
  require_shallow(text, file);
  try {
    return to_value(toml::parse(text, file));
  } catch (const toml::parse_error& error) {
    fail(file, position(error.source()), "not valid TOML: " + to_valid_utf8(error.description()));
  } catch (const TomlAssertion& error) {
    fail(file, end_of_unbroken(text), fmt::format("not valid TOML: expected {}", error.what()));
  }
}

} // namespace winnow
