#pragma once

#include "harness/report/text_table.h"
#include "tasks/result/evaluation.h"
#include "tasks/task/speedup_versus.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// The value at a path such as "launch/kernel" or "limiters/0"; null if there is none. The empty
/// path is the document itself.
const nlohmann::json& value_at(const nlohmann::json& document, const std::string& path);
/// The number at a path; 0 for null.
double number_at(const nlohmann::json& document, const std::string& path);
/// The value at a path as a cell shows it: nothing for null, a string unchanged.
std::string text_at(const nlohmann::json& document, const std::string& path);
/// The text with the values at paths, as text_at() writes them, in the place of the paths in
/// braces:
/// "{task} on {device}".
std::string filled(std::string_view text, const nlohmann::json& document);
/// The interval from NAME_low to NAME_high, each followed by `unit`; unknown unless both are
/// finite.
tasks::Bounds bounds_at(const nlohmann::json& document, const std::string& name,
                        const std::string& unit = "");
/// "BLOCK=128 VEC=4" from the member "parameters"; empty for none.
std::string parameters_at(const nlohmann::json& document);
/// What the speedups of a document are against (store::put_versus()).
std::string versus_at(const nlohmann::json& document);

/// A column of a table that has a row for each object of a list.
struct JsonColumn {
  TextTable::Column column;
  std::string path;
  /// Makes the cell from the value at `path`. Empty: the cell is text_at().
  std::function<std::string(const nlohmann::json&)> text = {};
};
std::string cell_of(const JsonColumn& column, const nlohmann::json& row);
TextTable json_table(const nlohmann::json& rows, const std::vector<JsonColumn>& columns);

} // namespace winnow::harness
