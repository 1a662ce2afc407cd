#include "tasks/json/json_text.h"

#include "base/json_dump.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::tasks {
namespace {

bool needs_no_escape(char byte) {
  return byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\';
}

template <typename Number> std::string_view digits_of(Number number, std::array<char, 32>& buffer) {
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  return {buffer.data(), static_cast<std::size_t>(end - buffer.data())};
}

/// Bytes that are not UTF-8 stand as {"hex": "c3..."}.
nlohmann::json text_json(const std::string& text) {
  if (!find_invalid_utf8(text)) {
    return text;
  }
  std::string hex;
  for (const char byte : text) {
    hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return {{"hex", hex}};
}

} // namespace

void append_tree(std::string& out, const nlohmann::json& json) {
  out += json_line(json);
}

void append_text(std::string& out, const std::string& text) {
  if (std::all_of(text.begin(), text.end(), needs_no_escape)) {
    out.append("\"").append(text).append("\"");
  } else {
    append_tree(out, text_json(text));
  }
}

void append_number(std::string& out, double number) {
  if (!std::isfinite(number)) {
    return append_tree(out, number_json(number));
  }
  std::array<char, 32> buffer{};
  const std::string_view digits = digits_of(number, buffer);
  out += digits;
  if (digits.find_first_of(".e") == std::string_view::npos) {
    out += ".0"; // a reader would take "-0" for an integer and lose the sign
  }
}

void append_number(std::string& out, std::int64_t number) {
  std::array<char, 32> buffer{};
  out += digits_of(number, buffer);
}

nlohmann::json number_json(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  return value;
}

double number_of(const nlohmann::json& json) {
  if (!json.is_string()) {
    return json.get<double>();
  }
  const auto text = json.get<std::string>();
  if (text == "nan") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (text != "inf" && text != "-inf") {
    throw std::invalid_argument("'" + text + "' is not a number");
  }
  return (text == "inf" ? 1 : -1) * std::numeric_limits<double>::infinity();
}

} // namespace winnow::tasks
