#include "store/board/query_json.h"

#include "base/json_dump.h"
#include "base/text.h"

#include <cmath>

#include <nlohmann/json.hpp>

namespace winnow::store {

using nlohmann::json;

std::vector<JsonField> json_fields(std::string_view text) {
  std::vector<JsonField> fields;
  for (const std::string& word : wrap_words(text, 1)) {
    const char kind = word.back();
    fields.push_back({word.substr(0, word.size() - 2), kind == 'i'   ? JsonField::Kind::Integer
                                                       : kind == 'r' ? JsonField::Kind::Real
                                                       : kind == 'j' ? JsonField::Kind::Json
                                                                     : JsonField::Kind::Text});
  }
  return fields;
}

json field_json(const Query& query, const JsonField& field) {
  if (query.is_null(field.name)) {
    return {};
  }
  switch (field.kind) {
  case JsonField::Kind::Integer:
    return query.integer(field.name);
  case JsonField::Kind::Real: {
    const double value = query.real(field.name);
    return std::isfinite(value) ? json(value) : json();
  }
  case JsonField::Kind::Json:
    return json::parse(query.text(field.name), nullptr, false);
  case JsonField::Kind::Text:
    break;
  }
  return to_valid_utf8(query.text(field.name));
}

json objects_json(Query& query, const std::vector<JsonField>& fields) {
  json rows = json::array();
  while (query.next()) {
    json row = json::object();
    for (const JsonField& field : fields) {
      row[field.name] = field_json(query, field);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

} // namespace winnow::store
