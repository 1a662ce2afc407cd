#include "base/json_dump.h"

#include "base/text.h"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

namespace winnow {
namespace {

std::string valid_utf8(std::string_view text) {
  std::string repaired(text);
  // to_valid_utf8 would also replace the line ends of a formatted message.
  std::replace(repaired.begin(), repaired.end(), '\r', ' ');
  return to_valid_utf8(repaired);
}

/// The value of the four hexadecimal digits behind "\\u"; -1: there are none.
int escaped_unit(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) != "\\u" || text.size() < at + 6) {
    return -1;
  }
  int unit = -1;
  const char* const end = text.data() + at + 6;
  const auto [read, error] = std::from_chars(text.data() + at + 2, end, unit, 16);
  return error == std::errc() && read == end ? unit : -1;
}

bool is_high_half(int unit) {
  return unit >= 0xD800 && unit <= 0xDBFF;
}
bool is_low_half(int unit) {
  return unit >= 0xDC00 && unit <= 0xDFFF;
}

std::string without_lone_halves(std::string text) {
  for (std::size_t at = text.find('\\'); at < text.size(); at = text.find('\\', at + 2)) {
    const int unit = escaped_unit(text, at);
    if (is_high_half(unit) && is_low_half(escaped_unit(text, at + 6))) {
      at += 6; // a pair
    } else if (is_high_half(unit) || is_low_half(unit)) {
      text.replace(at, 6, "\\ufffd");
    }
  }
  return text;
}

bool may_have_halves(std::string_view text) {
  return text.find("\\ud") != std::string_view::npos || text.find("\\uD") != std::string_view::npos;
}

} // namespace

std::string json_line(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_document(const nlohmann::json& value) {
  return value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string with_readable_text(std::string_view json) {
  std::string valid = find_invalid_utf8(json) ? valid_utf8(json) : std::string(json);
  return may_have_halves(valid) ? without_lone_halves(std::move(valid)) : valid;
}

bool has_too_many_levels(std::string_view json) {
  int levels = 0;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') {
      i = json_string_end(json, i);
    } else if (c == '[' || c == '{') {
      if (++levels > kMostJsonLevels) {
        return true;
      }
    } else if (c == ']' || c == '}') {
      --levels;
    }
  }
  return false;
}

std::size_t json_string_end(std::string_view text, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < text.size() && text[at] != '"') {
    at += text[at] == '\\' ? 2 : 1;
  }
  return std::min(at, text.size());
}

} // namespace winnow
