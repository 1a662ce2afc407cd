// Reads a row into a plain struct. For .cpp files.
//
//   WINNOW_READ_COLUMNS(query, call, id, key, dollars);
//
// sets call.id, call.key and call.dollars from the columns of these names.
#pragma once

#include "store/database.h"
#include "store/evaluation_rows.h"
#include "tasks/json/json_fields.h"

#include <type_traits>

#define WINNOW_READ_COLUMN(name) read_column(winnow_query, #name, winnow_row.name);
#define WINNOW_READ_COLUMNS(query, row, ...)                                                       \
  do {                                                                                             \
    const Query& winnow_query = query;                                                             \
    auto& winnow_row = row;                                                                        \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(WINNOW_READ_COLUMN, __VA_ARGS__))                     \
  } while (false)

namespace winnow::store {

/// NULL is 0, the empty text or nullopt. A value that is no number and no text is stored as JSON;
/// NULL leaves it unchanged.
template <typename Value> void read_column(const Query& query, const char* column, Value& value) {
  if constexpr (std::is_same_v<Value, std::string>) {
    value = query.text(column);
  } else if constexpr (std::is_same_v<Value, double>) {
    value = query.real_or_zero(column);
  } else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
    value = static_cast<Value>(query.integer(column));
  } else if (query.is_null(column)) {
    return;
  } else if constexpr (std::is_same_v<Value, std::vector<double>>) {
    value = decode_samples(query.text(column));
  } else if constexpr (tasks::kIsOptional<Value>) {
    read_column(query, column, value.emplace());
  } else {
    nlohmann::json::parse(query.text(column)).get_to(value);
  }
}

/// The interval between the columns NAME_low and NAME_high.
inline tasks::Bounds read_bounds(const Query& query, const std::string& name,
                                 const std::string& unit = "") {
  return {query.real_or_zero(name + "_low" + unit), query.real_or_zero(name + "_high" + unit)};
}

} // namespace winnow::store
