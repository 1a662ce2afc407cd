#include "base/text.h"
#include "tasks/expression/expression_node.h"
#include "tasks/inputs/dtype.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

using Node = Expression::Node;

constexpr std::int64_t kMaxPowerOf2 = std::int64_t{1} << 62;

ExpressionError overflow(const Node& node, const std::string& values) {
  return {node.column, "the result does not fit 64-bit integers", {}, values};
}

std::int64_t calculate(const Node& node, Operator op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  const bool overflows = op == Operator::Add        ? __builtin_add_overflow(a, b, &result)
                         : op == Operator::Subtract ? __builtin_sub_overflow(a, b, &result)
                                                    : __builtin_mul_overflow(a, b, &result);
  if (overflows) {
    const char sign = op == Operator::Add ? '+' : op == Operator::Subtract ? '-' : '*';
    throw overflow(node, fmt::format("{} {} {}", a, sign, b));
  }
  return result;
}

void check_divisor(const Node& node, std::string_view what, std::int64_t a, std::int64_t b) {
  if (b <= 0) {
    throw ExpressionError(node.column,
                          b == 0 ? "division by zero" : "division by a negative number",
                          "a divisor of at least 1", fmt::format("{} {} {}", a, what, b));
  }
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}
std::int64_t shift(const Node& node, std::int64_t a, std::int64_t b) {
  if (b < 0 || b > 62) {
    throw ExpressionError(node.column, "the shift distance is out of range", "0 to 62",
                          std::to_string(b));
  }
  return node.op == Operator::ShiftLeft
             ? calculate(node, Operator::Multiply, a, std::int64_t{1} << b)
             : a >> b;
}

std::int64_t logarithm(const Node& node, std::int64_t a, bool up) {
  if (a < 1) {
    throw ExpressionError(node.column, "the logarithm of a number below 1", "at least 1",
                          std::to_string(a));
  }
  const auto value = static_cast<std::uint64_t>(a);
  return static_cast<std::int64_t>(std::bit_width(up ? value - 1 : value)) - (up ? 0 : 1);
}

std::int64_t next_power_of_2(const Node& node, std::int64_t a) {
  if (a > kMaxPowerOf2) {
    throw overflow(node, fmt::format("next_pow2({})", a));
  }
  return a <= 1 ? 1 : static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(a)));
}

// The operands of sizeof() besides dtypes, their types in device code, and buffers: C++ type names
// that models use out of habit.
std::optional<DType> dtype_from_habit(std::string_view name) {
  static const std::vector<std::pair<std::string_view, DType>> names{
      {"half", DType::F16},     {"char", DType::I8},      {"unsigned", DType::U32},
      {"int8_t", DType::I8},    {"uint8_t", DType::U8},   {"int16_t", DType::I16},
      {"uint16_t", DType::U16}, {"int32_t", DType::I32},  {"uint32_t", DType::U32},
      {"int64_t", DType::I64},  {"uint64_t", DType::U64},
  };
  for (const auto& [known, type] : names) {
    if (known == name) {
      return type;
    }
  }
  for (const DType type : all_dtypes()) {
    if (to_string(type) == name || device_type_name(type) == name) {
      return type;
    }
  }
  return std::nullopt;
}

// An error with the similar or known names of `scope`.
ExpressionError unknown_name(const Node& node, const Scope& scope) {
  return {node.column,
          fmt::format("unknown name '{}'{}", node.name, suggestion(node.name, scope.names()))};
}

std::int64_t size_of(const Node& node, const Scope& scope) {
  if (const Value* value = scope.find("sizeof(" + node.name + ")")) {
    return std::get<std::int64_t>(*value);
  }
  if (const auto dtype = dtype_from_habit(node.name)) {
    return static_cast<std::int64_t>(size_bytes(*dtype));
  }
  throw ExpressionError(node.column, fmt::format("unknown type '{}' in sizeof()", node.name),
                        "a dtype (f32, i32, ...) or the name of a tensor or scratch buffer");
}

template <typename Number> bool compare(Operator op, Number a, Number b) {
  switch (op) {
  case Operator::Equal:
    return a == b;
  case Operator::NotEqual:
    return a != b;
  case Operator::Less:
    return a < b;
  case Operator::LessEqual:
    return a <= b;
  case Operator::Greater:
    return a > b;
  default:
    return a >= b;
  }
}

double defined(const Node& node, double result, std::initializer_list<double> operands) {
  if (std::isnan(result)) {
    const std::string values = fmt::format("of {}", fmt::join(operands, " and "));
    throw ExpressionError(node.column, "the result is not a number", {}, values);
  }
  return result;
}

std::int64_t binary(const Node& node, std::int64_t a, std::int64_t b) {
  switch (node.op) {
  case Operator::Add:
  case Operator::Subtract:
  case Operator::Multiply:
    return calculate(node, node.op, a, b);
  case Operator::Divide:
    check_divisor(node, "/", a, b);
    return floor_divide(a, b);
  case Operator::Remainder:
    check_divisor(node, "%", a, b);
    return a - floor_divide(a, b) * b;
  case Operator::ShiftLeft:
  case Operator::ShiftRight:
    return shift(node, a, b);
  default:
    return compare(node.op, a, b) ? 1 : 0;
  }
}

double binary(const Node& node, double a, double b) {
  switch (node.op) {
  case Operator::Add:
    return defined(node, a + b, {a, b});
  case Operator::Subtract:
    return defined(node, a - b, {a, b});
  case Operator::Multiply:
    return defined(node, a * b, {a, b});
  case Operator::Divide:
    if (b == 0) {
      throw ExpressionError(node.column, "division by zero", "a divisor that is not 0",
                            fmt::format("{} / {}", a, b));
    }
    return defined(node, a / b, {a, b});
  default:
    return compare(node.op, a, b) ? 1 : 0;
  }
}

/// Number: std::int64_t, whose results are exact, or double.
template <typename Number> class Evaluator {
public:
  explicit Evaluator(const Scope& scope) : scope_(scope) {}

  Number operator()(const Node& node) const {
    switch (node.op) {
    case Operator::Integer:
      return static_cast<Number>(node.integer);
    case Operator::Real:
      return real(node);
    case Operator::Name:
      return name(node);
    case Operator::SizeOf:
      return static_cast<Number>(size_of(node, scope_));
    case Operator::Call:
      return call(node);
    case Operator::Negate:
      return negated(node, child(node, 0));
    case Operator::Not:
      return child(node, 0) == 0 ? 1 : 0;
    case Operator::And:
      return child(node, 0) != 0 && child(node, 1) != 0 ? 1 : 0;
    case Operator::Or:
      return child(node, 0) != 0 || child(node, 1) != 0 ? 1 : 0;
    case Operator::Select:
      return child(node, 0) != 0 ? child(node, 1) : child(node, 2);
    case Operator::Remainder:
    case Operator::ShiftLeft:
    case Operator::ShiftRight:
      return static_cast<Number>(binary(node, integer_child(node, 0), integer_child(node, 1)));
    default:
      return binary(node, child(node, 0), child(node, 1));
    }
  }

private:
  static constexpr bool kIsReal = std::is_same_v<Number, double>;

  Number child(const Node& node, std::size_t index) const { return (*this)(*node.children[index]); }

  std::int64_t integer_child(const Node& node, std::size_t index) const {
    return Evaluator<std::int64_t>(scope_)(*node.children[index]);
  }

  static Number negated(const Node& node, Number a) {
    if constexpr (kIsReal) {
      return -a;
    } else {
      return calculate(node, Operator::Subtract, 0, a);
    }
  }

  static Number real(const Node& node) {
    if (!kIsReal) {
      throw ExpressionError(node.column, "a float in an integer expression",
                            "an integer, or {\"float\": \"...\"} for a float argument");
    }
    return static_cast<Number>(node.real);
  }

  Number name(const Node& node) const {
    const Value* value = scope_.find(node.name);
    const auto constant = kIsReal ? float_constant(node.name) : std::nullopt;
    if (value == nullptr && constant) {
      return static_cast<Number>(*constant);
    }
    if (value == nullptr) {
      throw unknown_name(node, scope_);
    }
    if (const auto* integer = std::get_if<std::int64_t>(value)) {
      return static_cast<Number>(*integer);
    }
    if (std::holds_alternative<Unknown>(*value)) {
      throw UnknownValue();
    }
    if (!kIsReal) {
      throw ExpressionError(node.column,
                            fmt::format("'{}' is a float in an integer expression", node.name),
                            "integers only, or {\"float\": \"...\"} for a float argument");
    }
    return static_cast<Number>(std::get<double>(*value));
  }

  Number call(const Node& node) const {
    if (node.function == Function::Min || node.function == Function::Max) {
      return extreme(node, child(node, 0));
    }
    if constexpr (kIsReal) {
      return function_info(node.function).real
                 ? real_call(node)
                 : static_cast<double>(Evaluator<std::int64_t>(scope_)(node));
    } else {
      return integer_call(node);
    }
  }

  std::int64_t integer_call(const Node& node) const {
    const FunctionInfo& info = function_info(node.function);
    if (!info.integer) {
      throw ExpressionError(node.column, fmt::format("{}() gives a float", info.name),
                            "an integer expression, or {\"float\": \"...\"} for a float argument");
    }
    const std::int64_t a = integer_child(node, 0);
    switch (node.function) {
    case Function::Abs:
      return a < 0 ? calculate(node, Operator::Subtract, 0, a) : a;
    case Function::NextPow2:
      return next_power_of_2(node, a);
    case Function::Log2:
      return logarithm(node, a, false);
    case Function::Log2Ceil:
      return logarithm(node, a, true);
    default:
      break;
    }
    const std::int64_t b = integer_child(node, 1);
    check_divisor(node, "/", a, b);
    const std::int64_t quotient = a / b + (a % b > 0 ? 1 : 0);
    return node.function == Function::CeilDiv ? quotient
                                              : calculate(node, Operator::Multiply, quotient, b);
  }

  double real_call(const Node& node) const {
    const double a = child(node, 0);
    switch (node.function) {
    case Function::Pow: {
      const double b = child(node, 1);
      return defined(node, std::pow(a, b), {a, b});
    }
    case Function::Abs:
      return std::abs(a);
    case Function::Exp:
      return std::exp(a);
    case Function::Exp2:
      return std::exp2(a);
    case Function::Floor:
      return std::floor(a);
    case Function::Ceil:
      return std::ceil(a);
    case Function::Sqrt:
      return defined(node, std::sqrt(a), {a});
    default:
      break;
    }
    if (!(a > 0)) { // rsqrt, log, log2
      throw ExpressionError(
          node.column,
          fmt::format("{}() of a number that is not above 0", function_info(node.function).name),
          "a number above 0", fmt::format("{}", a));
    }
    return node.function == Function::Rsqrt ? 1 / std::sqrt(a)
           : node.function == Function::Log ? std::log(a)
                                            : std::log2(a);
  }

  Number extreme(const Node& node, Number best) const {
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      const Number other = child(node, i);
      best = node.function == Function::Min ? std::min(best, other) : std::max(best, other);
    }
    return best;
  }

  const Scope& scope_;
};

} // namespace

std::int64_t evaluate_integer(const Expression::Node& root, const Scope& scope) {
  return Evaluator<std::int64_t>(scope)(root);
}

double evaluate_real(const Expression::Node& root, const Scope& scope) {
  return Evaluator<double>(scope)(root);
}

std::optional<double> float_constant(std::string_view name) {
  return name == "e"     ? std::optional(std::numbers::e)
         : name == "pi"  ? std::optional(std::numbers::pi)
         : name == "inf" ? std::optional(std::numeric_limits<double>::infinity())
                         : std::nullopt;
}

} // namespace winnow::tasks
