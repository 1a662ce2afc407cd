#include "base/toml.h"

#include "base/error.h"
#include "base/text.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace winnow {
namespace {

/// Thrown when a document breaks an assertion inside toml++.
struct TomlAssertion : std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] void fail(const std::string& file, std::size_t line, std::size_t column,
                       std::string_view what) {
  throw UsageError(fmt::format("{}:{}:{}: {}", file, line, column, what));
}

/// Calls fail() with the position after `before`.
[[noreturn]] void fail_after(std::string_view before, const std::string& file,
                             std::string_view what) {
  const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  fail(file, line, before.size() - (before.rfind('\n') + 1) + 1, what);
}

void require_ascii(std::string_view text, const std::string& file) {
  const auto other = std::find_if(text.begin(), text.end(),
                                  [](char c) { return static_cast<unsigned char>(c) >= 0x80U; });
  if (other == text.end()) {
    return;
  }
  fail_after(text.substr(0, static_cast<std::size_t>(other - text.begin())), file,
             "this character is not ASCII; expected ASCII, in comments too");
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

/// The longest beginning of `text` that breaks no assertion of toml++. An assertion carries no
/// position, so parse_toml() reports the end of this beginning.
std::string_view beginning_that_breaks(std::string_view text) {
  std::size_t fine = 0;
  std::size_t broken = text.size();
  while (broken - fine > 1) {
    const std::size_t middle = fine + (broken - fine) / 2;
    (breaks_assertion(text.substr(0, middle)) ? broken : fine) = middle;
  }
  return text.substr(0, fine);
}

} // namespace

void toml_assertion_failed(const char* expression) {
  throw TomlAssertion(expression);
}

toml::table parse_toml(std::string_view text, const std::string& file) {
  require_ascii(text, file);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    const auto& at = error.source().begin;
    fail(file, at.line, at.column, "not valid TOML: " + to_valid_utf8(error.description()));
  } catch (const TomlAssertion& error) {
    fail_after(beginning_that_breaks(text), file,
               fmt::format("not valid TOML: expected {}", error.what()));
  }
}

} // namespace winnow
