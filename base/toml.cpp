#include "base/toml.h"

#include "base/error.h"
#include "base/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow {
namespace {

[[noreturn]] void fail(const std::string& file, std::size_t line, std::size_t column,
                       std::string_view what) {
  throw UsageError(fmt::format("{}:{}:{}: {}", file, line, column, what));
}

void require_ascii(std::string_view text, const std::string& file) {
  const auto other = std::find_if(text.begin(), text.end(),
                                  [](char c) { return static_cast<unsigned char>(c) >= 0x80U; });
  if (other == text.end()) {
    return;
  }
  const auto before = text.substr(0, static_cast<std::size_t>(other - text.begin()));
  const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const auto column = before.size() - (before.rfind('\n') + 1) + 1;
  fail(file, line, column, "a character that is not ASCII; expected ASCII, in comments too");
}

} // namespace

toml::table parse_toml(std::string_view text, const std::string& file) {
  require_ascii(text, file);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    const auto& at = error.source().begin;
    fail(file, at.line, at.column, "not valid TOML: " + to_valid_utf8(error.description()));
  }
}

} // namespace winnow
