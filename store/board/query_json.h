#pragma once

#include "store/database.h"

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::store {

/// A column of a query, with its type.
struct JsonField {
  enum class Kind : std::uint8_t { Integer, Real, Text, Json };
  std::string name;
  Kind kind = Kind::Text;
};

/// "id:i speedup:r model:t race:j": integers, reals, texts and JSON.
std::vector<JsonField> json_fields(std::string_view text);

/// The column's value in the current row; null for NULL and for numbers that JSON lacks.
nlohmann::json field_json(const Query& query, const JsonField& field);

/// [{...},...] of all remaining rows of the query.
nlohmann::json objects_json(Query& query, const std::vector<JsonField>& fields);

} // namespace winnow::store
