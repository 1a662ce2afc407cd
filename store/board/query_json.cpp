#include "store/board/query_json.h"

#include "base/json_dump.h"
#include "base/text.h"

#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 11> kJsonColumns{
    "conditions", "content",    "features", "findings", "kernels", "mismatch",
    "notes",      "parameters", "parents",  "race",     "shapes"};

json value_json(const Query& query, const std::string& column) {
  switch (query.kind(column)) {
  case Query::Kind::Null:
    return {};
  case Query::Kind::Integer:
    return query.integer(column);
  case Query::Kind::Real: {
    const double value = query.real(column);
    return std::isfinite(value) ? json(value) : json();
  }
  case Query::Kind::Text:
    break;
  }
  const std::string text = query.text(column);
  return !contains(kJsonColumns, column) ? json(to_valid_utf8(text))
         : has_too_many_levels(text)     ? json()
                                         : json::parse(text, nullptr, false);
}

} // namespace

json object_json(const Query& query) {
  json row = json::object();
  for (const std::string& column : query.columns()) {
    row[column] = value_json(query, column);
  }
  return row;
}

json values_json(const Query& query) {
  json row = json::array();
  for (const std::string& column : query.columns()) {
    row.push_back(value_json(query, column));
  }
  return row;
}

json objects_json(Query& query) {
  json rows = json::array();
  while (query.next()) {
    rows.push_back(object_json(query));
  }
  return rows;
}

} // namespace winnow::store
