#include "harness/report/json_table.h"

#include "base/json_dump.h"
#include "tasks/json/json_text.h"

#include <cmath>

#include <nlohmann/json.hpp>

namespace winnow::harness {

using nlohmann::json;

const json& value_at(const json& document, const std::string& path) {
  static const json kNone;
  if (path.empty() || path.find('/') != std::string::npos) {
    const json::json_pointer pointer(path.empty() ? path : "/" + path);
    return document.contains(pointer) ? document.at(pointer) : kNone;
  }
  const auto member = document.find(path); // most paths are one name
  return member == document.end() ? kNone : *member;
}

double number_at(const json& document, const std::string& path) {
  const json& value = value_at(document, path);
  return value.is_null() ? 0 : tasks::number_of(value);
}

std::string text_at(const json& document, const std::string& path) {
  const json& value = value_at(document, path);
  return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : json_line(value);
}

std::string filled(std::string_view text, const json& document) {
  std::string out;
  for (std::size_t open = 0; (open = text.find('{')) != std::string_view::npos;) {
    const std::size_t close = text.find('}', open);
    out += text.substr(0, open);
    out += text_at(document, std::string(text.substr(open + 1, close - open - 1)));
    text.remove_prefix(close + 1);
  }
  return out += text;
}

tasks::Bounds bounds_at(const json& document, const std::string& name, const std::string& unit) {
  const tasks::Bounds bounds{number_at(document, name + "_low" + unit),
                             number_at(document, name + "_high" + unit)};
  return std::isfinite(bounds.high) ? bounds : tasks::Bounds{};
}

std::string parameters_at(const json& document) {
  const json& choice = value_at(document, "parameters");
  return choice.is_object() ? tasks::parameters_text(choice.get<tasks::ParameterChoice>()) : "";
}

std::string versus_at(const json& document) {
  const std::string versus = text_at(document, "speedup_versus");
  return versus.empty() ? std::string(tasks::kVersusBaseline) : versus;
}

std::string cell_of(const JsonColumn& column, const json& row) {
  return column.text ? column.text(value_at(row, column.path)) : text_at(row, column.path);
}

TextTable json_table(const json& rows, const std::vector<JsonColumn>& columns) {
  TextTable table;
  for (const JsonColumn& column : columns) {
    table.columns.push_back(column.column);
  }
  for (const json& row : rows) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (const JsonColumn& column : columns) {
      cells.push_back(cell_of(column, row));
    }
  }
  return table;
}

} // namespace winnow::harness
