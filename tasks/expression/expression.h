#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace winnow::tasks {

/// The expression is malformed or has no value. `column` counts from 1 inside the expression.
/// what() is "reason" or "reason: values". reason() alone reveals nothing about a hidden shape.
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

/// [A-Za-z_][A-Za-z0-9_]*: a valid name of an axis, parameter or binding.
bool is_identifier(std::string_view text);

/// Stands for a value that is not known yet (a device constant before compiling).
struct Unknown {};
/// Thrown if an expression needs a value that is Unknown.
class UnknownValue : public std::exception {};

using Value = std::variant<std::int64_t, double, Unknown>;

/// The names that an expression may use. A child scope sees the names of its parent but does not
/// own the parent. The value of sizeof(x) is stored under the name "sizeof(x)".
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

/// The value of e, pi or inf, which expressions of floats know; nullopt for another name.
std::optional<double> float_constant(std::string_view name);

/// An arithmetic expression of a launch plan or a task. Cheap to copy (shared, immutable).
/// Grammar: integer and float literals, names, + - * / % << >>, comparisons, && || !, ?:,
/// parentheses and calls. true and false are 1 and 0. && || ?: evaluate only the operands that they
/// need.
/// Integer functions: min max abs ceil_div align_up next_pow2 log2 (floor) log2_ceil sizeof(dtype
/// or tensor). `/` of integers rounds down. A divisor that is zero or negative is an error. So is
/// an integer overflow.
/// Float functions (evaluate_float only): sqrt rsqrt exp exp2 log log2 pow abs min max floor ceil;
/// constants: e pi inf. Inside evaluate_float the integer-only operations (% << >> ceil_div
/// align_up next_pow2 log2_ceil sizeof) use integers.
class Expression {
public:
  Expression() = default; ///< empty: only `empty()` may be called
  /// The text has at most 4,096 bytes and 64 levels of nesting. Throws ExpressionError.
  static Expression parse(std::string_view text);
  static Expression constant(std::int64_t value);

  /// Evaluates in 64-bit integers. A float name or literal is an error. Throws ExpressionError or
  /// UnknownValue.
  std::int64_t evaluate(const Scope& scope) const;
  /// Evaluates in doubles: integers convert, and `/` gives the exact quotient. Throws
  /// ExpressionError or UnknownValue.
  double evaluate_float(const Scope& scope) const;

  bool empty() const { return root_ == nullptr; }
  const std::string& text() const { return text_; }
  /// The distinct names in the expression, in order of appearance, without functions, true, false
  /// and the operand of sizeof.
  std::vector<std::string> names() const;
  /// The column of the first use of the name, from 1; 0 if the expression does not use the name.
  int column_of(std::string_view name) const;

  struct Node;
  const Node& root() const { return *root_; } ///< of a non-empty expression

private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

} // namespace winnow::tasks
