#include "store/damaged_json.h"

#include <string_view>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

namespace winnow::store {
namespace {

struct DeclaredColumn {
  std::string table, name;
};

/// Those of CHECK (... json_valid(NAME)).
std::vector<DeclaredColumn> declared_columns(const SQLite::Database& database) {
  constexpr std::string_view kCheck = "json_valid(";
  std::vector<DeclaredColumn> columns;
  SQLite::Statement tables(database, "SELECT name, sql FROM sqlite_schema WHERE type = 'table'");
  while (tables.executeStep()) {
    const std::string sql = tables.getColumn(1).getString();
    for (std::size_t at = sql.find(kCheck); at != std::string::npos; at = sql.find(kCheck, at)) {
      at += kCheck.size();
      columns.push_back({tables.getColumn(0).getString(), sql.substr(at, sql.find(')', at) - at)});
    }
  }
  return columns;
}

std::string as_identifier(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) {
    text += c == '"' ? "\"\"" : std::string(1, c);
  }
  return text + "\"";
}

/// The columns of the table's key; for most tables, one.
std::vector<std::string> key_of(const SQLite::Database& database, const std::string& table) {
  std::vector<std::string> names;
  SQLite::Statement columns(database,
                            "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk");
  columns.bind(1, table);
  while (columns.executeStep()) {
    names.push_back(columns.getColumn(0).getString());
  }
  return names.empty() ? std::vector<std::string>{"rowid"} : names;
}

} // namespace

std::optional<DamagedJson> find_damaged_json(const SQLite::Database& database) {
  for (const DeclaredColumn& column : declared_columns(database)) {
    std::string keys;
    for (const std::string& key : key_of(database, column.table)) {
      keys += (keys.empty() ? "" : ", ") + as_identifier(key);
    }
    SQLite::Statement query(
        database,
        fmt::format("SELECT {0} FROM {1} WHERE {2} IS NOT NULL AND NOT json_valid({2}) LIMIT 1",
                    keys, as_identifier(column.table), as_identifier(column.name)));
    if (!query.executeStep()) {
      continue;
    }
    std::string row = query.getColumn(0).getString();
    if (query.getColumnCount() > 1) {
      row = query.getColumn(0).getName() + (" " + row);
      for (int i = 1; i < query.getColumnCount(); ++i) {
        row += fmt::format(", {} {}", query.getColumn(i).getName(), query.getColumn(i).getString());
      }
    }
    return DamagedJson{column.table, column.name, row};
  }
  return std::nullopt;
}

} // namespace winnow::store
