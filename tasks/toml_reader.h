#pragma once

#include "tasks/expression/expression.h"
#include "tasks/inputs/dtype.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// Reads a table of a TOML file key by key. Every mistake throws UsageError with its position.
class TomlReader {
public:
  /// The root table of a document; `file` names it in messages.
  static TomlReader parse(std::string_view text, const std::string& file);

  void allow_keys(const std::vector<std::string>& known) const;
  bool has(std::string_view key) const;
  /// The keys in the order of the file.
  std::vector<std::string> keys() const;

  std::string string(std::string_view key) const;
  std::string string_or(std::string_view key, std::string fallback) const;
  std::int64_t integer(std::string_view key) const;
  double number(std::string_view key) const;
  double number_or(std::string_view key, double fallback) const;
  bool boolean_or(std::string_view key, bool fallback) const;
  DType dtype(std::string_view key) const;
  Expression expression(std::string_view key) const;
  std::vector<Expression> expressions(std::string_view key) const;
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

private:
  struct Table; // defined in the .cpp file, because toml++ takes seconds to compile

  explicit TomlReader(std::shared_ptr<const Table> table) : table_(std::move(table)) {}
  std::shared_ptr<const Table> table_;
};

} // namespace winnow::tasks
