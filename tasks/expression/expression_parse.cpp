#include "base/text.h"
#include "tasks/expression/expression_node.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

constexpr std::size_t kMaxBytes = 4096;
constexpr int kMaxNesting = 64;
constexpr std::size_t kAny = 16;

constexpr std::array kFunctions{
    FunctionInfo{"min", Function::Min, 2, kAny, true, true},
    FunctionInfo{"max", Function::Max, 2, kAny, true, true},
    FunctionInfo{"abs", Function::Abs, 1, 1, true, true},
    FunctionInfo{"ceil_div", Function::CeilDiv, 2, 2, true, false},
    FunctionInfo{"align_up", Function::AlignUp, 2, 2, true, false},
    FunctionInfo{"next_pow2", Function::NextPow2, 1, 1, true, false},
    FunctionInfo{"log2", Function::Log2, 1, 1, true, true},
    FunctionInfo{"log2_ceil", Function::Log2Ceil, 1, 1, true, false},
    FunctionInfo{"sqrt", Function::Sqrt, 1, 1, false, true},
    FunctionInfo{"rsqrt", Function::Rsqrt, 1, 1, false, true},
    FunctionInfo{"exp", Function::Exp, 1, 1, false, true},
    FunctionInfo{"exp2", Function::Exp2, 1, 1, false, true},
    FunctionInfo{"log", Function::Log, 1, 1, false, true},
    FunctionInfo{"pow", Function::Pow, 2, 2, false, true},
    FunctionInfo{"floor", Function::Floor, 1, 1, false, true},
    FunctionInfo{"ceil", Function::Ceil, 1, 1, false, true},
};

struct BinaryOperator {
  std::string_view text;
  Operator op;
  int precedence; ///< a larger number binds tighter
};

// Longer spellings come first, so that "<=" is not read as "<".
constexpr std::array kBinaryOperators{
    BinaryOperator{"||", Operator::Or, 1},        BinaryOperator{"&&", Operator::And, 2},
    BinaryOperator{"==", Operator::Equal, 3},     BinaryOperator{"!=", Operator::NotEqual, 3},
    BinaryOperator{"<<", Operator::ShiftLeft, 5}, BinaryOperator{">>", Operator::ShiftRight, 5},
    BinaryOperator{"<=", Operator::LessEqual, 4}, BinaryOperator{">=", Operator::GreaterEqual, 4},
    BinaryOperator{"<", Operator::Less, 4},       BinaryOperator{">", Operator::Greater, 4},
    BinaryOperator{"+", Operator::Add, 6},        BinaryOperator{"-", Operator::Subtract, 6},
    BinaryOperator{"*", Operator::Multiply, 7},   BinaryOperator{"/", Operator::Divide, 7},
    BinaryOperator{"%", Operator::Remainder, 7},
};
constexpr int kRelational = 4;

using Node = Expression::Node;
using NodePointer = std::unique_ptr<const Node>;

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

class Parser {
public:
  explicit Parser(std::string_view text) : text_(text) {}

  NodePointer parse() {
    skip_space();
    if (at_end()) {
      throw ExpressionError(1, "the expression is empty", "a number, name or formula");
    }
    NodePointer node = ternary();
    if (!at_end()) {
      throw unexpected("an operator or the end");
    }
    return node;
  }

private:
  bool at_end() const { return position_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[position_]; }
  int column() const { return static_cast<int>(position_) + 1; }

  void skip_space() {
    while (!at_end() && std::string_view(" \t\r\n").find(peek()) != std::string_view::npos) {
      ++position_;
    }
  }

  bool accept(char c) {
    if (at_end() || peek() != c) {
      return false;
    }
    ++position_;
    skip_space();
    return true;
  }

  ExpressionError unexpected(const std::string& expected) const {
    if (at_end()) {
      return {column(), "the expression ends too early", expected};
    }
    const char c = peek();
    const bool printable = c > ' ' && c < 127;
    const std::string shown = printable
                                  ? fmt::format("'{}'", c)
                                  : fmt::format("byte 0x{:02x}", static_cast<unsigned char>(c));
    if (c == '&' || c == '|' || c == '^' || c == '~') {
      return {column(), "unexpected " + shown + ": there are no bit operations",
              expected + " (&& and || are logical)"};
    }
    return {column(), "unexpected " + shown, expected};
  }

  struct Deeper {
    explicit Deeper(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kMaxNesting) {
        throw ExpressionError(parser_.column(), "the expression is nested too deeply",
                              fmt::format("at most {} levels", kMaxNesting));
      }
    }
    ~Deeper() { --parser_.depth_; }
    Deeper(const Deeper&) = delete; // the destructor must run once per level
    Deeper& operator=(const Deeper&) = delete;

  private:
    Parser& parser_;
  };

  static std::unique_ptr<Node> make(Operator op, int column) {
    auto node = std::make_unique<Node>();
    node->op = op;
    node->column = column;
    return node;
  }

  NodePointer ternary() {
    const Deeper deeper(*this);
    NodePointer condition = binary(1);
    const int at = column();
    if (!accept('?')) {
      return condition;
    }
    auto node = make(Operator::Select, at);
    node->children.push_back(std::move(condition));
    node->children.push_back(ternary());
    if (!accept(':')) {
      throw unexpected("':' of '?:'");
    }
    node->children.push_back(ternary());
    return node;
  }

  std::optional<BinaryOperator> peek_binary() const {
    for (const BinaryOperator& candidate : kBinaryOperators) {
      if (text_.substr(position_).starts_with(candidate.text)) {
        return candidate;
      }
    }
    return std::nullopt;
  }

  NodePointer binary(int least_precedence) {
    NodePointer left = unary();
    bool after_relational = false;
    for (auto found = peek_binary(); found && found->precedence >= least_precedence;
         found = peek_binary()) {
      const bool relational = found->precedence == kRelational;
      if (relational && after_relational) {
        throw ExpressionError(column(), "comparisons do not chain", "the form a < b && b < c");
      }
      after_relational = relational;
      auto node = make(found->op, column());
      position_ += found->text.size();
      skip_space();
      node->children.push_back(std::move(left));
      node->children.push_back(binary(found->precedence + 1));
      left = std::move(node);
    }
    return left;
  }

  NodePointer unary() {
    const Deeper deeper(*this);
    const int at = column();
    if (accept('+')) {
      return unary();
    }
    const bool negate = accept('-');
    if (negate || accept('!')) {
      auto node = make(negate ? Operator::Negate : Operator::Not, at);
      node->children.push_back(unary());
      return node;
    }
    return primary();
  }

  NodePointer primary() {
    if (accept('(')) {
      NodePointer inner = ternary();
      if (!accept(')')) {
        throw unexpected("')'");
      }
      return inner;
    }
    if (is_digit(peek()) || peek() == '.') {
      return number();
    }
    if (is_name_start(peek())) {
      return name_or_call();
    }
    throw unexpected("a number, a name or '('");
  }

  std::size_t number_end() const {
    std::size_t end = position_;
    while (end < text_.size()) {
      const char c = text_[end];
      const bool exponent_sign = (c == '+' || c == '-') && end > position_ &&
                                 (text_[end - 1] == 'e' || text_[end - 1] == 'E') &&
                                 !is_hexadecimal();
      if (!is_word_character(c) && c != '.' && !exponent_sign) {
        break;
      }
      ++end;
    }
    return end;
  }

  bool is_hexadecimal() const {
    return text_.substr(position_).starts_with("0x") || text_.substr(position_).starts_with("0X");
  }

  NodePointer number() {
    const int at = column();
    const std::string_view literal = text_.substr(position_, number_end() - position_);
    const bool real = !is_hexadecimal() && literal.find_first_of(".eE") != std::string_view::npos;
    auto node = make(real ? Operator::Real : Operator::Integer, at);
    const bool valid = real ? read_real(literal, node->real) : read_integer(literal, node->integer);
    if (!valid) {
      throw ExpressionError(at, fmt::format("'{}' is not a number that can be used", literal),
                            "a 64-bit integer (128, 0x80) or a float (0.5, 1e-6)");
    }
    position_ += literal.size();
    skip_space();
    return node;
  }

  static bool read_real(std::string_view literal, double& value) {
    if (literal.ends_with('f') || literal.ends_with('F')) { // 0.5f, as in C++
      literal.remove_suffix(1);
    }
    const char* end = literal.data() + literal.size();
    const auto [stop, error] = std::from_chars(literal.data(), end, value);
    return error == std::errc() && stop == end;
  }

  bool read_integer(std::string_view literal, std::int64_t& value) const {
    const int base = is_hexadecimal() ? 16 : 10;
    literal.remove_prefix(base == 16 ? 2 : 0);
    const bool octal = base == 10 && literal.size() > 1 && literal.front() == '0';
    const char* end = literal.data() + literal.size();
    const auto [stop, error] = std::from_chars(literal.data(), end, value, base);
    return error == std::errc() && stop == end && !octal;
  }

  std::string_view name() {
    const std::size_t begin = position_;
    while (!at_end() && is_word_character(peek())) {
      ++position_;
    }
    const std::string_view text = text_.substr(begin, position_ - begin);
    skip_space();
    return text;
  }

  NodePointer name_or_call() {
    const int at = column();
    const std::string_view text = name();
    if (accept('(')) {
      return text == "sizeof" ? size_of(at) : call(text, at);
    }
    const bool boolean = text == "true" || text == "false";
    auto node = make(boolean ? Operator::Integer : Operator::Name, at);
    node->integer = text == "true" ? 1 : 0;
    node->name = boolean ? "" : text;
    return node;
  }

  NodePointer size_of(int at) {
    auto node = make(Operator::SizeOf, at);
    if (!is_name_start(peek())) {
      throw unexpected("a dtype (f32, i32, ...) or the name of a tensor or scratch buffer");
    }
    node->name = name();
    if (!accept(')')) {
      throw unexpected("')' after sizeof's one name");
    }
    return node;
  }

  NodePointer call(std::string_view function_name, int at) {
    const FunctionInfo* info = find_named(kFunctions, function_name);
    if (info == nullptr) {
      throw ExpressionError(at, fmt::format("unknown function '{}'{}", function_name,
                                            suggestion(function_name, function_names())));
    }
    auto node = make(Operator::Call, at);
    node->function = info->function;
    if (!accept(')')) {
      do {
        node->children.push_back(ternary());
      } while (accept(','));
      if (!accept(')')) {
        throw unexpected("',' or ')'");
      }
    }
    const std::size_t count = node->children.size();
    if (count < info->least_arguments || count > info->most_arguments) {
      const bool any = info->most_arguments == kAny;
      throw ExpressionError(at, fmt::format("{}() has {} arguments", info->name, count),
                            any ? fmt::format("{} to {}", info->least_arguments, kAny)
                                : std::to_string(info->most_arguments));
    }
    return node;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  int depth_ = 0;
};

} // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && is_name_start(text.front()) &&
         std::all_of(text.begin(), text.end(), is_word_character);
}

const FunctionInfo& function_info(Function function) {
  return kFunctions[static_cast<std::size_t>(function)];
}

std::vector<std::string> function_names() {
  std::vector<std::string> names{"sizeof"};
  for (const FunctionInfo& info : kFunctions) {
    names.emplace_back(info.name);
  }
  return names;
}

std::unique_ptr<const Expression::Node> parse_expression(std::string_view text) {
  if (text.size() > kMaxBytes) {
    throw ExpressionError(1, fmt::format("the expression has {} bytes", text.size()),
                          fmt::format("at most {}", kMaxBytes));
  }
  return Parser(text).parse();
}

} // namespace winnow::tasks
