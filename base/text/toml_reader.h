#pragma once

#include "base/text/diagnostic.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace toml {
inline namespace v3 {
class node;
} // namespace v3
} // namespace toml

namespace winnow {

struct TomlMember;

/// A value of a TOML file, most often a table, which is read key by key. Every mistake throws
/// UsageError with its position.
class TomlReader {
public:
  /// The root table of a document in ASCII; `file` names it in messages.
  static TomlReader parse(std::string_view text, const std::string& file);

  bool is_table() const;
  bool is_list() const;
  SourcePosition at() const; ///< of the first character; of a string, its first quote
  std::string place() const; ///< "FILE:LINE:COLUMN"
  /// The value if it is of this type: std::string or std::int64_t.
  template <typename T> std::optional<T> as() const;
  std::optional<double> as_number() const; ///< an integer, too
  nlohmann::json json() const;             ///< null for a date or a time
  std::vector<TomlReader> items() const;   ///< of a list, else none
  std::vector<TomlMember> members() const; ///< of a table, in the order of the file, else none

  void allow_keys(const std::vector<std::string>& known) const;
  bool has(std::string_view key) const { return find(key).has_value(); }
  /// "tensors.x.KEY", as messages name it.
  std::string full_name(std::string_view key) const;

  std::optional<TomlReader> find(std::string_view key) const;
  /// The value of any type. `expected` describes it if the key is missing.
  TomlReader value(std::string_view key, const std::string& expected) const;
  std::string string(std::string_view key) const;
  std::string string_or(std::string_view key, std::string fallback) const;
  std::int64_t integer(std::string_view key) const;
  double number(std::string_view key) const;
  bool boolean_or(std::string_view key, bool fallback) const;
  /// The items of a list; `items` describes them in messages.
  std::vector<TomlReader> list(std::string_view key, const std::string& items) const;
  std::vector<std::string> strings(std::string_view key) const;
  TomlReader table(std::string_view key) const;
  std::optional<TomlReader> optional_table(std::string_view key) const;
  std::vector<TomlReader> tables(std::string_view key) const;

  /// Reports the unknown value `word` of `key`, with the known values.
  [[noreturn]] void fail_unknown(std::string_view key, std::string_view what,
                                 const std::string& word,
                                 const std::vector<std::string>& known) const;
  /// Throws with the position of the value of `key`, or of this value if `key` is empty or absent.
  [[noreturn]] void fail(std::string_view key, const std::string& what,
                         const std::string& expected) const;
  [[noreturn]] void fail_at(SourcePosition at, const std::string& what,
                            const std::string& expected) const;

private:
  TomlReader(std::shared_ptr<const toml::node> document, const toml::node& node, std::string file,
             std::string path)
      : document_(std::move(document)), node_(&node), file_(std::move(file)),
        path_(std::move(path)) {}

  /// Refuses what toml++ must not read: what nests too deeply, and any byte that is not ASCII,
  /// because the white-space test of toml++ 3.3 has undefined behaviour for many other characters.
  static void refuse_dangerous(std::string_view text, const std::string& file);
  template <typename T> T typed(std::string_view key, const std::string& expected) const;

  std::shared_ptr<const toml::node> document_; ///< owns `node_`
  const toml::node* node_;
  std::string file_;
  std::string path_; ///< "tensors.x", empty for the root
};

struct TomlMember {
  std::string key;
  SourcePosition at; ///< of the key
  TomlReader value;
};

} // namespace winnow
