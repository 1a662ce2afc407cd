#pragma once

#include "base/text/diagnostic.h"
#include "base/text/positioned_json.h"
#include "tasks/plan/plan.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// The text in single quotes, cut off if long.
std::string quote(std::string_view text);

/// The shared state of the plan parsers: the text, the declared names and the mistakes. Mistakes
/// are collected, so that one call reports several.
class PlanReader {
public:
  PlanReader(std::string_view file_text, std::string file_name, std::vector<Diagnostic>& errors)
      : file_text_(file_text), file_name_(std::move(file_name)), errors_(errors) {}

  void fail(SourcePosition at, const std::string& what, const std::string& expected = {});
  /// Reports a mistake at character `column` (from 1) of the string that begins at `string_at`.
  void fail_inside(SourcePosition string_at, int column, const std::string& what,
                   const std::string& expected = {});
  /// Whether `json` is of this kind. Reports a mistake if not.
  bool is(const JsonValue& json, JsonValue::Kind kind, const std::string& what);
  void check_keys(const JsonValue& json, const std::string& where,
                  const std::vector<std::string>& known);
  /// Those of the object that `owner` has under `key`; none if it has no such key.
  const std::vector<JsonMember>& members(const JsonValue& owner, std::string_view key);
  const JsonValue* required(const JsonValue& json, std::string_view key, const std::string& where);

  /// Reports a mistake if the name is already declared.
  void declare(const std::string& name, SourcePosition at, const std::string& kind);
  /// The declared names. The names of a repeat are removed at its end.
  std::set<std::string> names() const { return names_; }
  void restore_names(std::set<std::string> names) { names_ = std::move(names); }

  /// Whether an expression may use resident_blocks, and whether a number may be a float.
  struct Allowed {
    bool real = false;
    bool resident_blocks = false;
  };
  PlanExpression expression(const JsonValue& json, const std::string& what, Allowed allowed);
  PlanExpression expression(const JsonValue& json, const std::string& what) {
    return expression(json, what, Allowed());
  }
  /// Returns an empty expression if `json` has no such key.
  PlanExpression optional_expression(const JsonValue& json, std::string_view key);
  /// A list of 1 to `most` expressions, or a single expression.
  std::vector<PlanExpression> extents(const JsonValue& json, const std::string& key,
                                      std::size_t most, Allowed allowed);
  std::vector<PlanExpression> extents(const JsonValue& json, const std::string& key,
                                      std::size_t most) {
    return extents(json, key, most, Allowed());
  }
  bool boolean_or_false(const JsonValue& json, std::string_view key);
  DType dtype(const JsonValue& json);
  double fill_value(const JsonValue& json);
  std::string buffer_name(const JsonValue& json);
  /// What "tensor", or "pick" and "by", and "at" of an object say. `may_be_null`: an item of
  /// "pick".
  void read_buffer(const JsonValue& json, const std::string& where, bool may_be_null,
                   BufferReference& buffer);

private:
  Expression parsed(const JsonValue& json, Allowed allowed);

  std::string_view file_text_;
  std::string file_name_;
  std::vector<Diagnostic>& errors_;
  std::set<std::string> names_;
};

} // namespace winnow::tasks
