#include "tasks/expression/toml_expression.h"

#include "base/text.h"

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

Expression parse(const TomlReader& table, std::string_view key, const TomlReader& value) {
  if (const auto constant = value.as<std::int64_t>()) {
    return Expression::constant(*constant);
  }
  const auto text = value.as<std::string>();
  if (!text) {
    value.fail({},
               fmt::format("'{}' is neither an integer nor an expression", table.full_name(key)),
               "an integer or a string such as \"8 * rows\"");
  }
  try {
    return Expression::parse(*text);
  } catch (const ExpressionError& error) {
    table.fail_at({value.at().line, value.at().column + static_cast<int>(error.column())},
                  fmt::format("{} in expression '{}'", error.what(), truncate_text(*text, 200)),
                  error.expected());
  }
}

} // namespace

DType read_dtype(const TomlReader& table, std::string_view key) {
  const std::string name = table.string(key);
  if (const auto dtype = dtype_from_string(name)) {
    return *dtype;
  }
  std::vector<std::string> known;
  for (const DType type : all_dtypes()) {
    known.emplace_back(to_string(type));
  }
  table.fail_unknown(key, "dtype", name, known);
}

Expression read_expression(const TomlReader& table, std::string_view key) {
  return parse(table, key, table.value(key, "an expression"));
}

std::vector<Expression> read_expressions(const TomlReader& table, std::string_view key) {
  auto list = each<Expression>(table.list(key, "axes or expressions"),
                               [&](const TomlReader& item) { return parse(table, key, item); });
  return list;
}

} // namespace winnow::tasks
