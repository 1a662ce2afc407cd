// SQL and JSON that follow from the list of a record's fields (base/fields.h), so that a record
// names its fields once. For .cpp files.
//
//   Query insert(database, insert_into<SittingRow>("sitting_rows", "sitting_id", kRules));
//   bind_fields(insert.bind(sitting), row, kRules).run();
//
//   Query select(database, "SELECT " + columns<SittingRow>(kRules) + " FROM sitting_rows");
//   rows_of<SittingRow>(select, kRules);
//
// A field is the column of its name. Numbers and texts are themselves, an enumerator is its number
// (in JSON its name), nullopt is NULL, and all else is JSON. An interval is two columns:
// speedup_bounds is speedup_low and speedup_high, median_bounds_ns is median_low_ns and
// median_high_ns; NULL: not known. Reading NULL leaves a number as it is.
#pragma once

#include "base/json_dump.h"
#include "store/database.h"
#include "tasks/json/json_fields.h"
#include "tasks/result/evaluation.h"

#include <cmath>

namespace winnow::store {

/// What differs from the list for one table or document: names, with spaces between.
struct FieldRules {
  std::string_view left_out = {};     ///< are no part of it
  std::string_view zero_is_null = {}; ///< 0, an empty text and what is not finite become NULL
  std::string_view json_text = {};    ///< texts that are JSON; reading damaged JSON throws Error
};

bool has_word(std::string_view words, std::string_view word);
/// "speedup_low" for the field "speedup_bounds" and the end "low".
std::string end_of_interval(std::string_view field, std::string_view end);
std::optional<double> end_of(const tasks::Bounds& bounds, double tasks::Bounds::*end);
inline double& end_of(tasks::Bounds& bounds, double tasks::Bounds::*end) {
  return bounds.*end;
}
/// As a JSON array and back. Values that JSON lacks become the strings "nan", "inf", "-inf".
std::string encode_samples(const std::vector<double>& samples);
std::vector<double> decode_samples(const std::string& text);
[[noreturn]] void throw_no_form(); ///< the rules must leave a record within a record out

template <typename Visit> struct FieldVisitor {
  template <typename Value> void field(const char* name, Value& value) {
    if (has_word(rules.left_out, name)) {
    } else if constexpr (std::is_same_v<std::remove_const_t<Value>, tasks::Bounds>) {
      visit(end_of_interval(name, "low"), end_of(value, &tasks::Bounds::low));
      visit(end_of_interval(name, "high"), end_of(value, &tasks::Bounds::high));
    } else {
      visit(std::string(name), value);
    }
  }
  const FieldRules& rules;
  const Visit& visit;
};

/// Calls visit(column, value) for each column.
template <typename Record, typename Visit>
void each_field(Record& record, const FieldRules& rules, const Visit& visit) {
  FieldVisitor<Visit> visitor{rules, visit};
  list_fields(visitor, record);
}

template <typename Record> std::vector<std::string> field_names(const FieldRules& rules = {}) {
  std::vector<std::string> names;
  const Record any;
  each_field(any, rules, [&](const std::string& name, const auto&) { names.push_back(name); });
  return names;
}

/// "a.verdict, a.stage", where `before` is "a."
std::string listed(const std::vector<std::string>& names, const std::string& before = "");
/// "verdict = ?, stage = ?"
std::string assigned(const std::vector<std::string>& names);
template <typename Record>
std::string columns(const FieldRules& rules = {}, const std::string& before = "") {
  return listed(field_names<Record>(rules), before);
}

/// An INSERT of the columns `keys` ("run_id, task_id"), which bind() sets, and of the record's.
/// `values` are the expressions for `keys`; empty: as they are bound.
std::string insert_sql(const std::string& table, const std::string& keys, std::string values,
                       const std::vector<std::string>& names);
template <typename Record>
std::string insert_into(const std::string& table, const std::string& keys,
                        const FieldRules& rules = {}, const std::string& values = "") {
  return insert_sql(table, keys, values, field_names<Record>(rules));
}

template <typename Value>
concept HasStoredForm = std::is_convertible_v<const Value&, nlohmann::json> &&
    requires(const nlohmann::json& json, Value& value) {
  json.get_to(value);
};

/// Whether the value is 0, empty or not finite.
template <typename Value> bool is_zero(const Value& value) {
  if constexpr (std::is_floating_point_v<Value>) {
    return !(std::isfinite(value) && value > 0);
  } else if constexpr (std::is_integral_v<Value> || std::is_same_v<Value, std::string>) {
    return value == Value();
  } else {
    return false;
  }
}

template <typename Value> void bind_value(Query& query, const Value& value) {
  if constexpr (std::is_same_v<Value, std::string> || std::is_floating_point_v<Value>) {
    query.also(value);
  } else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
    query.also(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_same_v<Value, std::vector<double>>) {
    query.also(encode_samples(value));
  } else if constexpr (tasks::kIsOptional<Value>) {
    value ? bind_value(query, *value) : void(query.also(std::nullopt));
  } else if constexpr (HasStoredForm<Value>) {
    query.also(json_line(value));
  } else {
    throw_no_form();
  }
}

/// Binds the fields after what is bound.
template <typename Record>
Query& bind_fields(Query& query, const Record& record, const FieldRules& rules = {}) {
  each_field(record, rules, [&](const std::string& name, const auto& value) {
    has_word(rules.zero_is_null, name) && is_zero(value) ? void(query.also(std::nullopt))
                                                         : bind_value(query, value);
  });
  return query;
}

template <typename Value>
void read_column(const Query& query, const std::string& column, Value& value) {
  if constexpr (std::is_same_v<Value, std::string>) {
    value = query.text(column);
  } else if constexpr (std::is_floating_point_v<Value>) {
    value = query.optional_real(column).value_or(value);
  } else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
    const auto number = query.optional_integer(column);
    value = number ? static_cast<Value>(*number) : value;
  } else if (query.is_null(column)) {
    return;
  } else if constexpr (std::is_same_v<Value, std::vector<double>>) {
    value = decode_samples(query.text(column));
  } else if constexpr (tasks::kIsOptional<Value>) {
    read_column(query, column, value.emplace());
  } else if constexpr (HasStoredForm<Value>) {
    nlohmann::json::parse(query.text(column)).get_to(value);
  } else {
    throw_no_form();
  }
}

template <typename Record>
void read_row(const Query& query, Record& record, const FieldRules& rules = {}) {
  each_field(record, rules, [&](const std::string& name, auto& value) {
    if (has_word(rules.json_text, name)) {
      query.json_text(name); // throws
    }
    read_column(query, name, value);
  });
}
template <typename Record> Record row_of(const Query& query, const FieldRules& rules = {}) {
  Record record;
  read_row(query, record, rules);
  return record;
}
/// The rows of the query that are left.
template <typename Record> std::vector<Record> rows_of(Query& query, const FieldRules& rules = {}) {
  std::vector<Record> rows;
  while (query.next()) {
    read_row(query, rows.emplace_back(), rules);
  }
  return rows;
}

template <typename Value> nlohmann::json public_json(const Value& value) {
  if constexpr (tasks::kIsOptional<Value>) {
    return value ? public_json(*value) : nlohmann::json();
  } else if constexpr (std::is_enum_v<Value>) {
    return to_string(value);
  } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
    return std::to_string(value); // JSON numbers are exact up to 2^53
  } else if constexpr (HasStoredForm<Value>) {
    return value;
  } else {
    throw_no_form();
  }
}

template <typename Record>
nlohmann::json record_json(const Record& record, const FieldRules& rules = {}) {
  nlohmann::json json = nlohmann::json::object();
  each_field(record, rules, [&](const std::string& name, const auto& value) {
    const bool is_null = has_word(rules.zero_is_null, name) && is_zero(value);
    nlohmann::json& member = json[name] = is_null ? nlohmann::json() : public_json(value);
    if (has_word(rules.json_text, name)) {
      member = nlohmann::json::parse(member.get<std::string>(), nullptr, false);
    }
  });
  return json;
}
template <typename Record>
nlohmann::json records_json(const std::vector<Record>& records, const FieldRules& rules = {}) {
  nlohmann::json list = nlohmann::json::array();
  for (const Record& record : records) {
    list.push_back(record_json(record, rules));
  }
  return list;
}

} // namespace winnow::store
