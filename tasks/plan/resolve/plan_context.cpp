#include "tasks/plan/resolve/plan_context.h"

#include "base/text.h"
#include "base/text/positioned_json.h"
#include "tasks/plan/plan_constants.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

// "n=0, TILE=128": the names in the expression with their values.
std::string values_of(const Expression& expression, const Scope& scope) {
  std::vector<std::string> values;
  for (const std::string& name : expression.names()) {
    if (const Value* value = scope.find(name)) {
      if (const auto* integer = std::get_if<std::int64_t>(value)) {
        values.push_back(fmt::format("{}={}", name, *integer));
      } else if (const auto* real = std::get_if<double>(value)) {
        values.push_back(fmt::format("{}={}", name, *real));
      }
    }
  }
  return join(values, ", ");
}

// Evaluates a list of bindings in dependency order.
class Binder {
public:
  Binder(const PlanContext& context, const std::vector<LetBinding>& bindings, Scope& scope)
      : context_(context), bindings_(bindings), scope_(scope),
        states_(bindings.size(), State::Waiting) {}

  void bind_all() {
    for (std::size_t i = 0; i < bindings_.size(); ++i) {
      bind(i);
    }
  }

private:
  enum class State : std::uint8_t { Waiting, Busy, Done };

  // The recursion depth is at most kMaxChain.
  void bind(std::size_t index) {
    constexpr std::size_t kMaxChain = 200;
    const LetBinding& binding = bindings_[index];
    if (states_[index] == State::Done) {
      return;
    }
    chain_.push_back(binding.name);
    if (states_[index] == State::Busy) {
      const auto begin = std::find(chain_.begin(), chain_.end(), binding.name);
      context_.fail(binding.value.at,
                    fmt::format("let bindings depend on each other in a circle: {}",
                                join({begin, chain_.end()}, " -> ")),
                    "let bindings that depend only on earlier values");
    }
    if (chain_.size() > kMaxChain) {
      context_.fail(binding.value.at, "let bindings form a chain that is too long",
                    fmt::format("at most {} in a chain", kMaxChain));
    }
    states_[index] = State::Busy;
    for (const std::string& name : binding.value.expression.names()) {
      for (std::size_t other = 0; other < bindings_.size(); ++other) {
        if (bindings_[other].name == name) {
          bind(other);
        }
      }
    }
    scope_.set(binding.name, value_of(binding));
    states_[index] = State::Done;
    chain_.pop_back();
  }

  Value value_of(const LetBinding& binding) const {
    if (!binding.device_constant.empty()) {
      return constant(binding);
    }
    try {
      return binding.table.empty()
                 ? context_.integer(binding.value, scope_, fmt::format("let '{}'", binding.name))
                 : table_value(binding);
    } catch (const UnknownValue&) {
      return Unknown();
    }
  }

  std::int64_t table_value(const LetBinding& binding) const {
    const auto last = static_cast<std::int64_t>(binding.table.size()) - 1;
    const std::int64_t index = context_.integer_in(
        binding.value, scope_, fmt::format("\"by\" of the table '{}'", binding.name), 0, last,
        fmt::format("0 to {}: the index of one of its {} values", last, binding.table.size()));
    return binding.table[static_cast<std::size_t>(index)];
  }

  Value constant(const LetBinding& binding) const {
    if (context_.compiled() == nullptr) {
      return Unknown();
    }
    const std::string text = substituted(binding.device_constant, context_.choice());
    const auto& constants = context_.compiled()->constants;
    const auto value = constants.find(text);
    if (value == constants.end()) {
      context_.fail(binding.value.at,
                    fmt::format("the device constant '{}' was not compiled", text),
                    "a constant expression of the device code");
    }
    return value->second;
  }

  const PlanContext& context_;
  const std::vector<LetBinding>& bindings_;
  Scope& scope_;
  std::vector<State> states_;
  std::vector<std::string> chain_;
};

} // namespace

std::string text_of(const PlanExpression& value) {
  return truncate_text(value.expression.text(), 200);
}

std::string PlanContext::shape_text() const {
  return hidden() ? "a hidden shape" : "shape " + shape_.id;
}

void PlanContext::fail(SourcePosition at, const std::string& what,
                       const std::string& expected) const {
  throw PlanMistake({file_.file, at, what, expected});
}

void PlanContext::fail_unsupported(SourcePosition at, const std::string& what) const {
  throw PlanMistake({file_.file, at, what, {}, true});
}

void PlanContext::no_value(const PlanExpression& value, const Scope& scope, std::string_view what,
                           const ExpressionError& error) const {
  const SourcePosition at = position_in_string(file_.text, value.at, error.column());
  if (hidden()) {
    fail(at,
         fmt::format("{} = {} has no value for a hidden shape: {}", what, text_of(value),
                     error.reason()),
         error.expected());
  }
  const std::string values = values_of(value.expression, scope);
  fail(at,
       fmt::format("{} = {} has no value for {}{}: {}", what, text_of(value), shape_text(),
                   values.empty() ? "" : " (" + values + ")", error.what()),
       error.expected());
}

std::int64_t PlanContext::integer(const PlanExpression& value, const Scope& scope,
                                  std::string_view what) const {
  try {
    return value.expression.evaluate(scope);
  } catch (const ExpressionError& error) {
    no_value(value, scope, what, error);
  }
}

double PlanContext::real(const PlanExpression& value, const Scope& scope,
                         std::string_view what) const {
  try {
    return value.expression.evaluate_float(scope);
  } catch (const ExpressionError& error) {
    no_value(value, scope, what, error);
  }
}

std::string PlanContext::statement(const PlanExpression& value, const Scope& scope,
                                   std::string_view what, const std::string& result) const {
  if (hidden()) {
    return fmt::format("{} = {} is out of range for a hidden shape", what, text_of(value));
  }
  const bool literal = value.expression.text() == result;
  const std::string values = values_of(value.expression, scope);
  return fmt::format("{} = {}{} for {}{}", what, literal ? "" : text_of(value) + " = ", result,
                     shape_text(), values.empty() ? "" : " (" + values + ")");
}

std::int64_t PlanContext::integer_in(const PlanExpression& value, const Scope& scope,
                                     std::string_view what, std::int64_t low, std::int64_t high,
                                     const std::string& expected) const {
  const std::int64_t result = integer(value, scope, what);
  if (result < low || result > high) {
    fail(value.at, statement(value, scope, what, std::to_string(result)), expected);
  }
  return result;
}

void PlanContext::bind(const std::vector<LetBinding>& bindings, Scope& scope) const {
  Binder(*this, bindings, scope).bind_all();
}

} // namespace winnow::tasks
