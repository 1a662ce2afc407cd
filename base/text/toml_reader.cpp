#include "base/text/toml_reader.h"

#include "base/error.h"
#include "base/text.h"
#include "base/text/positioned_json.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow {

/// toml++ checks its internal assumptions with TOML_ASSERT. Some malformed documents break them
/// ("[?" in 3.3). The default TOML_ASSERT ends the process, or is undefined behaviour under NDEBUG.
/// This function throws TomlAssertion instead, and TomlReader::parse() reports the error.
[[noreturn]] void toml_assertion_failed(const char* expression);

} // namespace winnow

#define TOML_ASSERT(expression)                                                                    \
  (static_cast<bool>(expression) ? static_cast<void>(0)                                            \
                                 : ::winnow::toml_assertion_failed(#expression))
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace winnow {
namespace {

/// Thrown when a document breaks an assertion inside toml++.
struct TomlAssertion : std::logic_error {
  using std::logic_error::logic_error;
};

bool breaks_assertion(std::string_view text) {
  try {
    static_cast<void>(toml::parse(text));
  } catch (const toml::parse_error&) { // a cut document often has a syntax error too
  } catch (const TomlAssertion&) {
    return true;
  }
  return false;
}

/// The end of the longest beginning of `text` that breaks no assertion of toml++: an assertion
/// carries no position.
SourcePosition end_of_unbroken(std::string_view text) {
  std::size_t fine = 0;
  std::size_t broken = text.size();
  while (broken - fine > 1) {
    const std::size_t middle = fine + (broken - fine) / 2;
    (breaks_assertion(text.substr(0, middle)) ? broken : fine) = middle;
  }
  return position_of(text, fine);
}

SourcePosition position(const toml::source_region& region) {
  return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

} // namespace

void toml_assertion_failed(const char* expression) {
  throw TomlAssertion(expression);
}

TomlReader TomlReader::parse(std::string_view text, const std::string& file) {
  refuse_dangerous(text, file);
  const auto refuse = [&](SourcePosition at, const std::string& why) {
    return UsageError(to_string(Diagnostic{file, at, "not valid TOML: " + why, {}}));
  };
  try {
    const auto document = std::make_shared<const toml::table>(toml::parse(text, file));
    return {document, *document, file, {}};
  } catch (const toml::parse_error& error) {
    throw refuse(position(error.source()), to_valid_utf8(error.description()));
  } catch (const TomlAssertion& error) {
    throw refuse(end_of_unbroken(text), fmt::format("expected {}", error.what()));
  }
}

bool TomlReader::is_table() const {
  return node_->is_table();
}

bool TomlReader::is_list() const {
  return node_->is_array();
}

SourcePosition TomlReader::at() const {
  return position(node_->source());
}

template <typename T> std::optional<T> TomlReader::as() const {
  return node_->value_exact<T>();
}
template std::optional<std::string> TomlReader::as() const;
template std::optional<std::int64_t> TomlReader::as() const;

std::optional<double> TomlReader::as_number() const {
  const auto whole = as<std::int64_t>();
  return whole ? static_cast<double>(*whole) : as<double>();
}

std::vector<TomlReader> TomlReader::items() const {
  std::vector<TomlReader> items;
  for (const toml::array* list = node_->as_array(); list && items.size() < list->size();) {
    const std::size_t i = items.size();
    items.push_back({document_, (*list)[i], file_, fmt::format("{}[{}]", path_, i)});
  }
  return items;
}

std::vector<TomlMember> TomlReader::members() const {
  std::vector<TomlMember> members;
  if (const toml::table* table = node_->as_table()) {
    for (const auto& [key, node] : *table) {
      members.push_back({std::string(key.str()),
                         position(key.source()),
                         {document_, node, file_, full_name(key.str())}});
    }
  }
  std::stable_sort(members.begin(), members.end(), [](const TomlMember& a, const TomlMember& b) {
    return std::pair(a.at.line, a.at.column) < std::pair(b.at.line, b.at.column);
  });
  return members;
}

nlohmann::json TomlReader::json() const {
  using nlohmann::json;
  json plain = is_list() ? json::array() : is_table() ? json::object() : json();
  for (const TomlReader& item : items()) {
    plain.push_back(item.json());
  }
  for (const TomlMember& member : members()) {
    plain[member.key] = member.value.json();
  }
  node_->visit([&](const auto& leaf) {
    using Leaf = decltype(leaf);
    if constexpr (toml::is_string<Leaf> || toml::is_number<Leaf> || toml::is_boolean<Leaf>) {
      plain = leaf.get();
    }
  });
  return plain;
}

std::optional<TomlReader> TomlReader::find(std::string_view key) const {
  const toml::table* table = node_->as_table();
  const toml::node* found = table == nullptr ? nullptr : table->get(key);
  return found == nullptr ? std::nullopt
                          : std::optional(TomlReader(document_, *found, file_, full_name(key)));
}

std::string TomlReader::full_name(std::string_view key) const {
  return path_.empty() || key.empty() ? path_ + std::string(key) : fmt::format("{}.{}", path_, key);
}

std::string TomlReader::place() const {
  return fmt::format("{}:{}:{}", file_, at().line, at().column);
}

void TomlReader::fail_at(SourcePosition at, const std::string& what,
                         const std::string& expected) const {
  throw UsageError(to_string(Diagnostic{file_, at, what, expected}));
}

void TomlReader::fail(std::string_view key, const std::string& what,
                      const std::string& expected) const {
  fail_at(find(key).value_or(*this).at(), what, expected);
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
  for (const auto& [key, at, value] : members()) {
    if (!contains(known, key)) {
      const std::string where = path_.empty() ? "" : " in '" + path_ + "'";
      fail_at(at, fmt::format("unknown key '{}'{}{}", key, where, suggestion(key, known)), {});
    }
  }
}

TomlReader TomlReader::value(std::string_view key, const std::string& expected) const {
  auto found = find(key);
  if (!found) {
    fail({}, fmt::format("'{}' is missing", full_name(key)), expected);
  }
  return *std::move(found);
}

/// The value of `key`, which must be of type T; `expected` describes it: "a string".
template <typename T> T TomlReader::typed(std::string_view key, const std::string& expected) const {
  auto found = value(key, expected).as<T>();
  if (!found) {
    fail(key, fmt::format("'{}' is not {}", full_name(key), expected), expected);
  }
  return *std::move(found);
}

std::string TomlReader::string(std::string_view key) const {
  return typed<std::string>(key, "a string");
}

std::string TomlReader::string_or(std::string_view key, std::string fallback) const {
  return has(key) ? string(key) : std::move(fallback);
}

std::int64_t TomlReader::integer(std::string_view key) const {
  return typed<std::int64_t>(key, "an integer");
}

double TomlReader::number(std::string_view key) const {
  const auto found = value(key, "a number").as_number();
  if (!found || !std::isfinite(*found)) {
    fail(key, fmt::format("'{}' is not a finite number", full_name(key)), "a number");
  }
  return *found;
}

bool TomlReader::boolean_or(std::string_view key, bool fallback) const {
  const auto found = find(key);
  const auto value = found ? found->as<bool>() : fallback;
  if (!value) {
    fail(key, fmt::format("'{}' is not a boolean", full_name(key)), "true or false");
  }
  return *value;
}

std::vector<TomlReader> TomlReader::list(std::string_view key, const std::string& items) const {
  const TomlReader found = value(key, "a list of " + items);
  if (!found.is_list()) {
    fail(key, fmt::format("'{}' is not a list", full_name(key)), "a list of " + items);
  }
  return found.items();
}

std::vector<std::string> TomlReader::strings(std::string_view key) const {
  std::vector<std::string> strings;
  for (const TomlReader& item : list(key, "strings")) {
    const auto text = item.as<std::string>();
    if (!text) {
      item.fail({}, fmt::format("an item of '{}' is not a string", full_name(key)), "a string");
    }
    strings.push_back(*text);
  }
  return strings;
}

TomlReader TomlReader::table(std::string_view key) const {
  TomlReader found = value(key, "a table");
  if (!found.is_table()) {
    fail(key, fmt::format("'{}' is not a table", full_name(key)),
         fmt::format("[{}]", full_name(key)));
  }
  return found;
}

std::optional<TomlReader> TomlReader::optional_table(std::string_view key) const {
  return has(key) ? std::optional(table(key)) : std::nullopt;
}

std::vector<TomlReader> TomlReader::tables(std::string_view key) const {
  const std::string expected = fmt::format("at least one [[{}]]", full_name(key));
  std::vector<TomlReader> tables = value(key, expected).items();
  if (tables.empty()) {
    fail(key, fmt::format("'{}' is not a list of tables", full_name(key)), expected);
  }
  for (const TomlReader& item : tables) {
    if (!item.is_table()) {
      item.fail({}, fmt::format("an item of '{}' is not a table", full_name(key)), expected);
    }
  }
  return tables;
}

} // namespace winnow
