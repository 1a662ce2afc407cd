// SQL and JSON that follow from the list of a record's fields (WINNOW_JSON_FIELDS in
// tasks/json/json_fields.h), so that a record names its fields once. For .cpp files.
//
//   Query insert(database, insert_into<SittingRow>("sitting_rows", "sitting_id", kRules));
//   bind_fields(insert.bind(sitting), row, kRules).run();
//
//   Query select(database, "SELECT " + columns<SittingRow>(kRules) + " FROM sitting_rows");
//   read_row(select, row, kRules);
//
// A field is the column of its name. Numbers and texts are themselves, an enumerator is its number,
// nullopt is NULL, and all else is JSON. An interval is two columns: speedup_bounds is speedup_low
// and speedup_high, median_bounds_ns is median_low_ns and median_high_ns; NULL: not known. Reading
// NULL leaves a number as it is.
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

/// Records that have no form of their own must be left out.
template <typename Value>
concept HasStoredForm = std::is_convertible_v<const Value&, nlohmann::json> &&
                        requires(const nlohmann::json& json, Value& value) { json.get_to(value); };
[[noreturn]] void throw_no_form(std::string_view field);

bool has_word(std::string_view words, std::string_view word);
/// "speedup_low" for the field "speedup_bounds" and the end "low".
std::string end_of_interval(std::string_view field, std::string_view end);
/// As a JSON array and back. Values that JSON lacks become the strings "nan", "inf", "-inf".
std::string encode_samples(const std::vector<double>& samples);
std::vector<double> decode_samples(const std::string& text);

class FieldNames {
public:
  explicit FieldNames(const FieldRules& rules) : rules_(rules) {}
  template <typename Value> void field(const char* name, const Value& /*value*/) {
    if (has_word(rules_.left_out, name)) {
    } else if constexpr (std::is_same_v<Value, tasks::Bounds>) {
      names.push_back(end_of_interval(name, "low"));
      names.push_back(end_of_interval(name, "high"));
    } else {
      names.emplace_back(name);
    }
  }
  std::vector<std::string> names;

private:
  const FieldRules& rules_;
};

/// The columns of the record.
template <typename Record> std::vector<std::string> field_names(const FieldRules& rules = {}) {
  FieldNames list(rules);
  const Record any;
  list_fields(list, any);
  return list.names;
}

/// "a.verdict, a.stage", where `before` is "a."
std::string listed(const std::vector<std::string>& names, const std::string& before = "");
template <typename Record>
std::string columns(const FieldRules& rules = {}, const std::string& before = "") {
  return listed(field_names<Record>(rules), before);
}

/// "verdict = ?, stage = ?"
std::string assigned(const std::vector<std::string>& names);

/// An INSERT of the columns `keys` ("run_id, task_id"), which bind() sets, and of the record's.
/// `values` are the expressions for `keys`; empty: as they are bound.
std::string insert_sql(const std::string& table, const std::string& keys, std::string values,
                       const std::vector<std::string>& names);
template <typename Record>
std::string insert_into(const std::string& table, const std::string& keys,
                        const FieldRules& rules = {}, const std::string& values = "") {
  return insert_sql(table, keys, values, field_names<Record>(rules));
}

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

class FieldBinder {
public:
  FieldBinder(Query& query, const FieldRules& rules) : query_(query), rules_(rules) {}
  template <typename Value> void field(const char* name, const Value& value) {
    if (has_word(rules_.left_out, name)) {
    } else if constexpr (std::is_same_v<Value, tasks::Bounds>) {
      const bool known = value.known() && std::isfinite(value.low) && std::isfinite(value.high);
      query_.also(known ? std::optional(value.low) : std::nullopt,
                  known ? std::optional(value.high) : std::nullopt);
    } else if (has_word(rules_.zero_is_null, name) && is_zero(value)) {
      query_.also(std::optional<double>());
    } else {
      bind(value);
    }
  }

private:
  template <typename Value> void bind(const Value& value) {
    if constexpr (std::is_same_v<Value, std::string> || std::is_floating_point_v<Value>) {
      query_.also(value);
    } else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
      query_.also(static_cast<std::int64_t>(value));
    } else if constexpr (std::is_same_v<Value, std::vector<double>>) {
      query_.also(encode_samples(value));
    } else if constexpr (tasks::kIsOptional<Value>) {
      value ? bind(*value) : void(query_.also(std::optional<double>()));
    } else if constexpr (HasStoredForm<Value>) {
      query_.also(json_line(value));
    } else {
      throw_no_form(typeid(Value).name());
    }
  }

  Query& query_;
  const FieldRules& rules_;
};

/// Binds the fields after what is bound.
template <typename Record>
Query& bind_fields(Query& query, const Record& record, const FieldRules& rules = {}) {
  FieldBinder binder(query, rules);
  list_fields(binder, record);
  return query;
}

template <typename Value>
void read_column(const Query& query, const std::string& column, Value& value) {
  if constexpr (std::is_same_v<Value, tasks::Bounds>) {
    read_column(query, end_of_interval(column, "low"), value.low);
    read_column(query, end_of_interval(column, "high"), value.high);
  } else if constexpr (std::is_same_v<Value, std::string>) {
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
    throw_no_form(column);
  }
}

class RowReader {
public:
  RowReader(const Query& query, const FieldRules& rules) : query_(query), rules_(rules) {}
  template <typename Value> void field(const char* name, Value& value) {
    if (has_word(rules_.left_out, name)) {
      return;
    }
    if constexpr (std::is_same_v<Value, std::string>) {
      value = has_word(rules_.json_text, name) ? query_.json_text(name) : query_.text(name);
    } else {
      read_column(query_, name, value);
    }
  }

private:
  const Query& query_;
  const FieldRules& rules_;
};

template <typename Record>
void read_row(const Query& query, Record& record, const FieldRules& rules = {}) {
  RowReader reader(query, rules);
  list_fields(reader, record);
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

class FieldJson {
public:
  explicit FieldJson(const FieldRules& rules) : rules_(rules) {}
  template <typename Value> void field(const std::string& name, const Value& value) {
    if (has_word(rules_.left_out, name)) {
    } else if constexpr (std::is_same_v<Value, tasks::Bounds>) {
      put(end_of_interval(name, "low"), value.low, !value.known());
      put(end_of_interval(name, "high"), value.high, !value.known());
    } else {
      put(name, value, has_word(rules_.zero_is_null, name) && is_zero(value));
    }
  }
  nlohmann::json json = nlohmann::json::object();

private:
  template <typename Value> void put(const std::string& name, const Value& value, bool is_null) {
    nlohmann::json& member = json[name];
    if (is_null) {
    } else if constexpr (tasks::kIsOptional<Value>) {
      value ? put(name, *value, false) : void();
    } else if constexpr (std::is_same_v<Value, std::string>) {
      has_word(rules_.json_text, name) ? void(member = nlohmann::json::parse(value, nullptr, false))
                                       : void(member = value);
    } else if constexpr (std::is_enum_v<Value>) {
      member = to_string(value);
    } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
      member = std::to_string(value); // JSON numbers are exact up to 2^53
    } else if constexpr (HasStoredForm<Value>) {
      member = value;
    } else {
      throw_no_form(name);
    }
  }

  const FieldRules& rules_;
};

/// The public form of a record: enumerators are their names.
template <typename Record>
nlohmann::json record_json(const Record& record, const FieldRules& rules = {}) {
  FieldJson writer(rules);
  list_fields(writer, record);
  return std::move(writer.json);
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
