#include "base/text/toml_reader.h"

#include "base/error.h"
#include "base/text.h"
#include "base/text/toml.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace winnow {

TomlReader TomlReader::parse(std::string_view text, const std::string& file) {
  const auto document = std::make_shared<const JsonValue>(parse_toml(text, file));
  return {document, *document, file, {}};
}

std::string TomlReader::full_name(std::string_view key) const {
  return path_.empty() || key.empty() ? path_ + std::string(key) : fmt::format("{}.{}", path_, key);
}

void TomlReader::fail_at(SourcePosition at, const std::string& what,
                         const std::string& expected) const {
  throw UsageError(to_string(Diagnostic{file_, at, what, expected}));
}

void TomlReader::fail(std::string_view key, const std::string& what,
                      const std::string& expected) const {
  const JsonValue* value = table_->find(key);
  fail_at(value == nullptr ? table_->at : value->at, what, expected);
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
  for (const auto& [key, at, value] : table_->members) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      const std::string where = path_.empty() ? "" : " in '" + path_ + "'";
      fail_at(at, fmt::format("unknown key '{}'{}{}", key, where, suggestion(key, known)), {});
    }
  }
}

std::vector<std::string> TomlReader::keys() const {
  std::vector<std::string> names;
  for (const JsonMember& member : table_->members) {
    names.push_back(member.key);
  }
  return names;
}

const JsonValue& TomlReader::value(std::string_view key, const std::string& expected) const {
  const JsonValue* value = table_->find(key);
  if (value == nullptr) {
    fail({}, fmt::format("'{}' is missing", full_name(key)), expected);
  }
  return *value;
}

/// The value of `key`, which must be of `kind`; `expected` describes it: "a string".
const JsonValue& TomlReader::typed(std::string_view key, Kind kind,
                                   const std::string& expected) const {
  const JsonValue& found = value(key, expected);
  if (found.kind != kind) {
    fail(key, fmt::format("'{}' is not {}", full_name(key), expected), expected);
  }
  return found;
}

std::string TomlReader::string(std::string_view key) const {
  return typed(key, Kind::String, "a string").text;
}

std::string TomlReader::string_or(std::string_view key, std::string fallback) const {
  return has(key) ? string(key) : std::move(fallback);
}

std::int64_t TomlReader::integer(std::string_view key) const {
  return typed(key, Kind::Integer, "an integer").integer;
}

double TomlReader::number(std::string_view key) const {
  const JsonValue& found = value(key, "a number");
  if ((found.kind != Kind::Integer && found.kind != Kind::Real) || !std::isfinite(found.real)) {
    fail(key, fmt::format("'{}' is not a finite number", full_name(key)), "a number");
  }
  return found.real;
}

double TomlReader::number_or(std::string_view key, double fallback) const {
  return has(key) ? number(key) : fallback;
}

bool TomlReader::boolean_or(std::string_view key, bool fallback) const {
  if (has(key) && value(key, {}).kind != Kind::Boolean) {
    fail(key, fmt::format("'{}' is not a boolean", full_name(key)), "true or false");
  }
  return has(key) ? value(key, {}).boolean : fallback;
}

const std::vector<JsonValue>& TomlReader::list(std::string_view key,
                                               const std::string& items) const {
  const JsonValue& found = value(key, "a list of " + items);
  if (found.kind != Kind::Array) {
    fail(key, fmt::format("'{}' is not a list", full_name(key)), "a list of " + items);
  }
  return found.items;
}

std::vector<std::string> TomlReader::strings(std::string_view key) const {
  std::vector<std::string> strings;
  for (const JsonValue& item : list(key, "strings")) {
    if (item.kind != Kind::String) {
      fail_at(item.at, fmt::format("an item of '{}' is not a string", full_name(key)), "a string");
    }
    strings.push_back(item.text);
  }
  return strings;
}

TomlReader TomlReader::table(std::string_view key) const {
  const JsonValue& found = value(key, "a table");
  if (found.kind != Kind::Object) {
    fail(key, fmt::format("'{}' is not a table", full_name(key)),
         fmt::format("[{}]", full_name(key)));
  }
  return {document_, found, file_, full_name(key)};
}

std::optional<TomlReader> TomlReader::optional_table(std::string_view key) const {
  return has(key) ? std::optional(table(key)) : std::nullopt;
}

std::vector<TomlReader> TomlReader::tables(std::string_view key) const {
  const std::string expected = fmt::format("at least one [[{}]]", full_name(key));
  const JsonValue& found = value(key, expected);
  if (found.items.empty()) {
    fail(key, fmt::format("'{}' is not a list of tables", full_name(key)), expected);
  }
  std::vector<TomlReader> tables;
  for (const JsonValue& item : found.items) {
    if (item.kind != Kind::Object) {
      fail_at(item.at, fmt::format("an item of '{}' is not a table", full_name(key)), expected);
    }
    tables.push_back(
        {document_, item, file_, fmt::format("{}[{}]", full_name(key), tables.size())});
  }
  return tables;
}

} // namespace winnow
