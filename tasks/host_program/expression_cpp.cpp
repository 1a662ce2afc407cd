#include "tasks/host_program/expression_cpp.h"

#include "base/text.h"
#include "tasks/expression/expression_node.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

using Node = Expression::Node;

std::string integer_literal(std::int64_t value) {
  constexpr std::int64_t kSmall = 1024; // a product of three such numbers fits an int
  return fmt::format("{}{}", value, value < kSmall ? "" : "LL");
}

/// Of a binary operator between Add and Or that has the same symbol in C++.
std::string_view symbol_of(Operator op) {
  static constexpr std::string_view kSymbols[] = {
      "+", "-", "*", "/", "%", "<<", ">>", "==", "!=", "<", "<=", ">", ">=", "&&", "||"};
  return kSymbols[static_cast<std::size_t>(op) - static_cast<std::size_t>(Operator::Add)];
}

class Writer {
public:
  explicit Writer(const CppNames& names) : names_(names) {}

  std::string integer(const Node& node) const {
    switch (node.op) {
    case Operator::Integer:
      return integer_literal(node.integer);
    case Operator::Name:
      return node.name == "true" ? "1" : node.name == "false" ? "0" : names_.variable(node.name);
    case Operator::SizeOf:
      return std::to_string(names_.size_of(node.name));
    case Operator::Call:
      return call(fmt::format("plan::{}", function_info(node.function).name), node, false);
    case Operator::Divide:
      return call("plan::floor_div", node, false);
    case Operator::Remainder:
      return call("plan::remainder", node, false);
    case Operator::ShiftLeft:
      return call("plan::shift_left", node, false);
    case Operator::ShiftRight:
      return call("plan::shift_right", node, false);
    default:
      return operation(node, false);
    }
  }

  std::string real(const Node& node) const {
    switch (node.op) {
    case Operator::Integer:
      return real_literal(static_cast<double>(node.integer));
    case Operator::Real:
      return real_literal(node.real);
    case Operator::Name:
      return "double(" + names_.variable(node.name) + ")";
    case Operator::SizeOf:
    case Operator::Remainder:
    case Operator::ShiftLeft:
    case Operator::ShiftRight:
      return "double(" + integer(node) + ")";
    case Operator::Call:
      return real_call(node);
    case Operator::Divide:
      return fmt::format("({} / {})", real(*node.children[0]), real(*node.children[1]));
    default:
      return operation(node, true);
    }
  }

private:
  std::string child(const Node& node, std::size_t index, bool is_real) const {
    const Node& inner = *node.children[index];
    return is_real ? real(inner) : integer(inner);
  }

  std::string call(const std::string& function, const Node& node, bool is_real) const {
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      arguments.push_back(child(node, i, is_real));
    }
    return fmt::format("{}({})", function, join(arguments, ", "));
  }

  std::string real_call(const Node& node) const {
    const FunctionInfo& info = function_info(node.function);
    if (!info.real) {
      return "double(" + integer(node) + ")";
    }
    switch (node.function) {
    case Function::Min:
      return call("plan::real_min", node, true);
    case Function::Max:
      return call("plan::real_max", node, true);
    case Function::Rsqrt:
      return call("plan::rsqrt", node, true);
    default:
      return call(fmt::format("std::{}", info.name), node, true);
    }
  }

  std::string operation(const Node& node, bool is_real) const {
    switch (node.op) {
    case Operator::Negate:
      return "(-" + child(node, 0, is_real) + ")";
    case Operator::Not:
      return "(" + child(node, 0, is_real) + " == 0 ? 1 : 0)";
    case Operator::Select:
      return fmt::format("({} != 0 ? {} : {})", child(node, 0, is_real), child(node, 1, is_real),
                         child(node, 2, is_real));
    default:
      return fmt::format("({} {} {})", child(node, 0, is_real), symbol_of(node.op),
                         child(node, 1, is_real));
    }
  }

  const CppNames& names_;
};

/// Without the parentheses around the whole text.
std::string unwrapped(const std::string& text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0 && i + 1 < text.size()) {
      return text;
    }
  }
  return text.starts_with('(') ? text.substr(1, text.size() - 2) : text;
}

} // namespace

std::string integer_cpp(const Expression& expression, const CppNames& names) {
  return unwrapped(Writer(names).integer(expression.root()));
}

std::string real_cpp(const Expression& expression, const CppNames& names) {
  return unwrapped(Writer(names).real(expression.root()));
}

std::string real_literal(double value) {
  if (std::isnan(value)) {
    return "NAN";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-INFINITY" : "INFINITY";
  }
  const std::string text = fmt::format("{}", value);
  const bool is_real = text.find_first_of(".e") != std::string::npos;
  return is_real ? text : text + ".0";
}

} // namespace winnow::tasks
