#pragma once

#include "tasks/expression/expression.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

// The syntax tree of an Expression. Only its parser, its evaluator and its translation to
// C++ (tasks/host_program/) include this file.
enum class Operator : std::uint8_t {
  Integer,
  Real,
  Name,
  SizeOf,
  Call,
  Negate,
  Not,
  Add,
  Subtract,
  Multiply,
  Divide,
  Remainder,
  ShiftLeft,
  ShiftRight,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  And,
  Or,
  Select,
};

enum class Function : std::uint8_t {
  Min,
  Max,
  Abs,
  CeilDiv,
  AlignUp,
  NextPow2,
  Log2,
  Log2Ceil,
  Sqrt,
  Rsqrt,
  Exp,
  Exp2,
  Log,
  Pow,
  Floor,
  Ceil,
};

struct FunctionInfo {
  std::string_view name;
  Function function;
  std::size_t least_arguments;
  std::size_t most_arguments;
  bool integer; ///< has an integer form
  bool real;    ///< has a float form
};
const FunctionInfo& function_info(Function function);
std::vector<std::string> function_names();

struct Expression::Node {
  Operator op = Operator::Integer;
  int column = 1;
  std::int64_t integer = 0;
  double real = 0;
  std::string name; ///< Name: the name; SizeOf: the operand
  Function function = Function::Min;
  std::vector<std::unique_ptr<const Node>> children;
};

std::unique_ptr<const Expression::Node> parse_expression(std::string_view text);
std::int64_t evaluate_integer(const Expression::Node& root, const Scope& scope);
double evaluate_real(const Expression::Node& root, const Scope& scope);

} // namespace winnow::tasks
