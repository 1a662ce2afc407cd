#pragma once

#include "base/text/positioned_json.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow {

/// Reads a table of a TOML file key by key. Every mistake throws UsageError with its position.
class TomlReader {
public:
  /// The root table of a document; `file` names it in messages.
  static TomlReader parse(std::string_view text, const std::string& file);

  void allow_keys(const std::vector<std::string>& known) const;
  bool has(std::string_view key) const { return table_->find(key) != nullptr; }
  /// The keys in the order of the file.
  std::vector<std::string> keys() const;
  /// "tensors.x.KEY", as messages name it.
  std::string full_name(std::string_view key) const;

  /// The value of any type. `expected` describes it if the key is missing.
  const JsonValue& value(std::string_view key, const std::string& expected) const;
  std::string string(std::string_view key) const;
  std::string string_or(std::string_view key, std::string fallback) const;
  std::int64_t integer(std::string_view key) const;
  double number(std::string_view key) const;
  double number_or(std::string_view key, double fallback) const;
  bool boolean_or(std::string_view key, bool fallback) const;
  /// The items of a list; `items` describes them in messages.
  const std::vector<JsonValue>& list(std::string_view key, const std::string& items) const;
  std::vector<std::string> strings(std::string_view key) const;
  TomlReader table(std::string_view key) const;
  std::optional<TomlReader> optional_table(std::string_view key) const;
  std::vector<TomlReader> tables(std::string_view key) const;

  /// Reports the unknown value `word` of `key`, with the known values.
  [[noreturn]] void fail_unknown(std::string_view key, std::string_view what,
                                 const std::string& word,
                                 const std::vector<std::string>& known) const;
  /// Throws with the position of the value of `key`, or of the table if `key` is empty or absent.
  [[noreturn]] void fail(std::string_view key, const std::string& what,
                         const std::string& expected) const;
  [[noreturn]] void fail_at(SourcePosition at, const std::string& what,
                            const std::string& expected) const;

private:
  using Kind = JsonValue::Kind;

  TomlReader(std::shared_ptr<const JsonValue> document, const JsonValue& table, std::string file,
             std::string path)
      : document_(std::move(document)), table_(&table), file_(std::move(file)),
        path_(std::move(path)) {}

  const JsonValue& typed(std::string_view key, Kind kind, const std::string& expected) const;

  std::shared_ptr<const JsonValue> document_; ///< owns `table_`
  const JsonValue* table_;
  std::string file_;
  std::string path_; ///< "tensors.x", empty for the root
};

} // namespace winnow
