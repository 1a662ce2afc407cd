#pragma once

#include "tasks/diagnostic.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace winnow::tasks {

/// A malformed expression or one that has no value. `column` counts from 1 inside the expression.
class ExpressionError : public std::runtime_error {
public:
  ExpressionError(int column, const std::string& what, std::string expected = {})
      : std::runtime_error(what), column_(column), expected_(std::move(expected)) {}
  int column() const { return column_; }
  const std::string& expected() const { return expected_; }

private:
  int column_;
  std::string expected_;
};

using Value = std::variant<std::int64_t, double>;

/// Names an expression may use. A child scope sees its parent's names; it does not own the parent.
class Scope {
public:
  explicit Scope(const Scope* parent = nullptr) : parent_(parent) {}
  void set(std::string name, Value value);
  const Value* find(std::string_view name) const;
  std::vector<std::string> names() const; ///< of this scope and its parents, for suggestions

private:
  const Scope* parent_;
  std::vector<std::pair<std::string, Value>> values_;
};

/// An arithmetic expression of a launch plan or a task; cheap to copy (shared, immutable).
/// Grammar: integer and float literals, names, + - * / % << >>, comparisons, && || !, ?:, parentheses
/// and calls. `/` floors for integers; a negative or zero divisor is an error; every integer operation
/// is checked for overflow. true and false are 1 and 0.
/// Integer functions: min max abs ceil_div align_up next_pow2 log2 (floor) log2_ceil sizeof(dtype or tensor).
/// Float functions (evaluate_float only): sqrt rsqrt exp exp2 log log2 pow abs min max floor ceil; e pi inf.
class Expression {
public:
  Expression() = default; ///< empty: may only be tested with `empty()`
  /// At most 4,096 bytes and 64 levels deep. Throws ExpressionError.
  static Expression parse(std::string_view text);
  static Expression constant(std::int64_t value);

  /// In 64-bit integers; a float name or literal in it is an error. Throws ExpressionError.
  std::int64_t evaluate(const Scope& scope) const;
  /// In doubles (integers convert; `/` divides exactly). Throws ExpressionError.
  double evaluate_float(const Scope& scope) const;

  bool empty() const { return root_ == nullptr; }
  const std::string& text() const { return text_; }
  /// The distinct names it mentions (not functions), in order of appearance.
  std::vector<std::string> names() const;

  struct Node;

private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

} // namespace winnow::tasks
