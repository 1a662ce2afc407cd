#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace winnow::tasks {

/// A malformed expression or one that has no value. `column` counts from 1 inside the expression.
/// what() is "reason" or "reason: values"; reason() alone tells nothing of a hidden shape.
class ExpressionError : public std::runtime_error {
public:
  ExpressionError(int column, const std::string& reason, std::string expected = {},
                  const std::string& values = {})
      : std::runtime_error(values.empty() ? reason : reason + ": " + values), column_(column),
        reason_(reason), expected_(std::move(expected)) {}
  int column() const { return column_; }
  const std::string& reason() const { return reason_; }
  const std::string& expected() const { return expected_; }

private:
  int column_;
  std::string reason_;
  std::string expected_;
};

/// [A-Za-z_][A-Za-z0-9_]*: what axes, parameters and bindings may be called.
bool is_identifier(std::string_view text);

/// The value of a name that has none yet (a device constant before compiling).
struct Unknown {};
/// Thrown where an expression needs the value of such a name.
class UnknownValue : public std::exception {};

using Value = std::variant<std::int64_t, double, Unknown>;

/// Names an expression may use. A child scope sees its parent's names; it does not own the parent.
/// A value called "sizeof(x)" is what sizeof(x) gives for the tensor or buffer `x`.
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
/// Grammar: integer and float literals, names, + - * / % << >>, comparisons, && || !, ?:,
/// parentheses and calls. `/` floors for integers; a negative or zero divisor is an error; every
/// integer operation is checked for overflow. true and false are 1 and 0. Integer functions: min
/// max abs ceil_div align_up next_pow2 log2 (floor) log2_ceil sizeof(dtype or tensor). Float
/// functions (evaluate_float only): sqrt rsqrt exp exp2 log log2 pow abs min max floor ceil; e pi
/// inf. In evaluate_float, what only integers have (% << >> ceil_div align_up next_pow2 log2_ceil
/// sizeof) is computed in integers. The parts of && || ?: that do not decide are not evaluated.
class Expression {
public:
  Expression() = default; ///< empty: may only be tested with `empty()`
  /// At most 4,096 bytes and 64 levels deep. Throws ExpressionError.
  static Expression parse(std::string_view text);
  static Expression constant(std::int64_t value);

  /// In 64-bit integers; a float name or literal in it is an error. Throws ExpressionError or
  /// UnknownValue.
  std::int64_t evaluate(const Scope& scope) const;
  /// In doubles (integers convert; `/` divides exactly). Throws ExpressionError or UnknownValue.
  double evaluate_float(const Scope& scope) const;

  bool empty() const { return root_ == nullptr; }
  const std::string& text() const { return text_; }
  /// The distinct names it mentions (not functions, true, false or what sizeof is of), in order of
  /// appearance.
  std::vector<std::string> names() const;
  /// Where the name first appears, counting from 1; 0 if it does not.
  int column_of(std::string_view name) const;

  struct Node;

private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

} // namespace winnow::tasks
