#include "tasks/toml_reader.h"

#include "base/error.h"
#include "base/text.h"
#include "base/text/diagnostic.h"
#include "base/toml.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace winnow::tasks {

struct TomlReader::Table {
  std::shared_ptr<const toml::table> document; ///< owns `table`
  const toml::table* table;
  std::string file;
  std::string path; ///< "tensors.x", empty for the root

  std::string full(std::string_view key) const {
    return path.empty() || key.empty() ? path + std::string(key) : fmt::format("{}.{}", path, key);
  }

  [[noreturn]] void fail_at(const toml::source_region& source, const std::string& what,
                            const std::string& expected, std::uint32_t extra_columns = 0) const {
    const SourcePosition at{static_cast<int>(source.begin.line),
                            static_cast<int>(source.begin.column + extra_columns)};
    throw UsageError(to_string(Diagnostic{file, at, what, expected}));
  }

  [[noreturn]] void fail(std::string_view key, const std::string& what,
                         const std::string& expected) const {
    const toml::node* node = key.empty() ? nullptr : table->get(key);
    fail_at(node == nullptr ? table->source() : node->source(), what, expected);
  }

  const toml::node& require(std::string_view key, std::string_view expected) const {
    const toml::node* node = table->get(key);
    if (node == nullptr) {
      fail({}, fmt::format("'{}' is missing", full(key)), std::string(expected));
    }
    return *node;
  }

  Expression parse(const toml::node& node, std::string_view key) const {
    if (const auto* integer = node.as_integer()) {
      return Expression::constant(integer->get());
    }
    const auto* text = node.as_string();
    if (text == nullptr) {
      fail_at(node.source(), fmt::format("'{}' is neither an integer nor an expression", full(key)),
              "an integer or a string such as \"8 * rows\"");
    }
    try {
      return Expression::parse(text->get());
    } catch (const ExpressionError& error) {
      fail_at(node.source(),
              fmt::format("{} in expression '{}'", error.what(), truncate_text(text->get(), 200)),
              error.expected(), static_cast<std::uint32_t>(error.column()));
    }
  }

  std::shared_ptr<const Table> child(const toml::table& inner, std::string inner_path) const {
    return std::make_shared<Table>(Table{document, &inner, file, std::move(inner_path)});
  }
};

TomlReader TomlReader::parse(std::string_view text, const std::string& file) {
  const auto document = std::make_shared<const toml::table>(parse_toml(text, file));
  return TomlReader(std::make_shared<Table>(Table{document, document.get(), file, {}}));
}

bool TomlReader::has(std::string_view key) const {
  return table_->table->contains(key);
}

void TomlReader::fail(std::string_view key, const std::string& what,
                      const std::string& expected) const {
  table_->fail(key, what, expected);
}

void TomlReader::fail_unknown(std::string_view key, std::string_view what, const std::string& word,
                              const std::vector<std::string>& known) const {
  const auto near = nearest_match(word, known);
  fail(key,
       fmt::format("unknown {} '{}'{}", what, word,
                   near ? fmt::format("; did you mean '{}'?", *near) : ""),
       "one of " + join(known, ", "));
}

void TomlReader::allow_keys(const std::vector<std::string>& known) const {
  for (const auto& [key, value] : *table_->table) {
    if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
      const std::string where = table_->path.empty() ? "" : " in '" + table_->path + "'";
      table_->fail_at(
          key.source(),
          fmt::format("unknown key '{}'{}{}", key.str(), where, suggestion(key.str(), known)), {});
    }
  }
}

std::vector<std::string> TomlReader::keys() const {
  std::vector<std::pair<toml::source_position, std::string>> found;
  for (const auto& [key, value] : *table_->table) {
    found.emplace_back(key.source().begin, std::string(key.str()));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  names.reserve(found.size());
  for (auto& [position, name] : found) {
    names.push_back(std::move(name));
  }
  return names;
}

std::string TomlReader::string(std::string_view key) const {
  const toml::node& node = table_->require(key, "a string");
  if (!node.is_string()) {
    fail(key, fmt::format("'{}' is not a string", table_->full(key)), "a string");
  }
  return node.as_string()->get();
}

std::string TomlReader::string_or(std::string_view key, std::string fallback) const {
  return has(key) ? string(key) : std::move(fallback);
}

std::int64_t TomlReader::integer(std::string_view key) const {
  const toml::node& node = table_->require(key, "an integer");
  if (!node.is_integer()) {
    fail(key, fmt::format("'{}' is not an integer", table_->full(key)), "an integer");
  }
  return node.as_integer()->get();
}

double TomlReader::number(std::string_view key) const {
  const toml::node& node = table_->require(key, "a number");
  const auto value = node.is_number() ? node.value<double>() : std::nullopt;
  if (!value || !std::isfinite(*value)) {
    fail(key, fmt::format("'{}' is not a finite number", table_->full(key)), "a number");
  }
  return *value;
}

double TomlReader::number_or(std::string_view key, double fallback) const {
  return has(key) ? number(key) : fallback;
}

bool TomlReader::boolean_or(std::string_view key, bool fallback) const {
  if (!has(key)) {
    return fallback;
  }
  const toml::node& node = table_->require(key, "a boolean");
  if (!node.is_boolean()) {
    fail(key, fmt::format("'{}' is not a boolean", table_->full(key)), "true or false");
  }
  return node.as_boolean()->get();
}

DType TomlReader::dtype(std::string_view key) const {
  const std::string name = string(key);
  if (const auto dtype = dtype_from_string(name)) {
    return *dtype;
  }
  std::vector<std::string> known;
  for (const DType type : all_dtypes()) {
    known.emplace_back(to_string(type));
  }
  fail_unknown(key, "dtype", name, known);
}

Expression TomlReader::expression(std::string_view key) const {
  return table_->parse(table_->require(key, "an expression"), key);
}

std::vector<Expression> TomlReader::expressions(std::string_view key) const {
  const auto* array = table_->require(key, "a list of expressions").as_array();
  if (array == nullptr) {
    fail(key, fmt::format("'{}' is not a list", table_->full(key)),
         "a list of axes or expressions");
  }
  std::vector<Expression> list;
  for (const toml::node& node : *array) {
    list.push_back(table_->parse(node, key));
  }
  return list;
}

std::vector<std::string> TomlReader::strings(std::string_view key) const {
  const auto* array = table_->require(key, "a list of strings").as_array();
  if (array == nullptr) {
    fail(key, fmt::format("'{}' is not a list", table_->full(key)), "a list of strings");
  }
  std::vector<std::string> list;
  for (const toml::node& node : *array) {
    if (!node.is_string()) {
      table_->fail_at(node.source(),
                      fmt::format("an item of '{}' is not a string", table_->full(key)),
                      "a string");
    }
    list.push_back(node.as_string()->get());
  }
  return list;
}

TomlReader TomlReader::table(std::string_view key) const {
  const auto* table = table_->require(key, "a table").as_table();
  if (table == nullptr) {
    fail(key, fmt::format("'{}' is not a table", table_->full(key)),
         fmt::format("[{}]", table_->full(key)));
  }
  return TomlReader(table_->child(*table, table_->full(key)));
}

std::optional<TomlReader> TomlReader::optional_table(std::string_view key) const {
  return has(key) ? std::optional(table(key)) : std::nullopt;
}

std::vector<TomlReader> TomlReader::tables(std::string_view key) const {
  const std::string expected = fmt::format("at least one [[{}]]", table_->full(key));
  const auto* array = table_->require(key, expected).as_array();
  if (array == nullptr || array->empty()) {
    fail(key, fmt::format("'{}' is not a list of tables", table_->full(key)), expected);
  }
  std::vector<TomlReader> list;
  for (const toml::node& node : *array) {
    const auto* table = node.as_table();
    if (table == nullptr) {
      table_->fail_at(node.source(),
                      fmt::format("an item of '{}' is not a table", table_->full(key)), expected);
    }
    list.push_back(
        TomlReader(table_->child(*table, fmt::format("{}[{}]", table_->full(key), list.size()))));
  }
  return list;
}

} // namespace winnow::tasks
