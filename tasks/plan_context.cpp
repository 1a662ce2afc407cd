#include "tasks/plan_context.h"

#include "base/text.h"
#include "tasks/positioned_json.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

std::string text_of(const PlanExpression& value) {
  return truncate_text(value.expression.text(), 200);
}

// "n=0, TILE=128": the names of the expression with their values.
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

// Evaluates one list of bindings in the order of their dependencies.
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

  // A loop instead of recursion would be longer; the depth is bounded by kMaxChain.
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
                    "each to depend on earlier values only");
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
    scope_.set(binding.name,
               context_.integer(binding.value, scope_, fmt::format("let '{}'", binding.name)));
    states_[index] = State::Done;
    chain_.pop_back();
  }

  const PlanContext& context_;
  const std::vector<LetBinding>& bindings_;
  Scope& scope_;
  std::vector<State> states_;
  std::vector<std::string> chain_;
};

class NameChecker {
public:
  NameChecker(const PlanContext& context, const Scope& scope, const std::vector<Buffer>& buffers)
      : context_(context), known_(scope.names()) {
    for (const Buffer& buffer : buffers) {
      buffers_.push_back(buffer.name);
    }
  }

  void check() {
    const Plan& plan = context_.file().plan;
    for (const Parameter& parameter : plan.parameters) {
      no_clash(parameter.name, parameter.at, "parameter");
      known_.push_back(parameter.name);
    }
    for (const ScratchBuffer& scratch : plan.scratch) {
      no_clash(scratch.name, scratch.at, "scratch buffer");
    }
    declare(plan.let);
    for (const ScratchBuffer& scratch : plan.scratch) {
      expression(scratch.count);
    }
    launches(plan.launches);
  }

private:
  // Device facts may be hidden: new ones must not break old files.
  void no_clash(const std::string& name, SourcePosition at, std::string_view kind) const {
    const Task& task = context_.task();
    const bool axis = std::any_of(task.axes.begin(), task.axes.end(),
                                  [&](const Axis& a) { return a.name == name; });
    const bool scalar = std::any_of(task.scalars.begin(), task.scalars.end(),
                                    [&](const ScalarSpec& s) { return s.name == name; });
    if (axis || scalar || task.find_tensor(name) != nullptr) {
      context_.fail(at,
                    fmt::format("{} '{}' has the name of {} of the task", kind, name,
                                axis     ? "an axis"
                                : scalar ? "a scalar"
                                         : "a tensor"),
                    "another name");
    }
  }

  void declare(const std::vector<LetBinding>& bindings) {
    for (const LetBinding& binding : bindings) {
      no_clash(binding.name, binding.value.at, "let binding");
      known_.push_back(binding.name);
    }
    for (const LetBinding& binding : bindings) {
      expression(binding.value);
    }
  }

  void expression(const PlanExpression& value, bool real = false) const {
    for (const std::string& name : value.expression.names()) {
      const bool constant = real && (name == "e" || name == "pi" || name == "inf");
      if (constant || std::find(known_.begin(), known_.end(), name) != known_.end()) {
        continue;
      }
      const SourcePosition at =
          position_in_string(context_.file().text, value.at, value.expression.column_of(name));
      if (std::find(buffers_.begin(), buffers_.end(), name) != buffers_.end()) {
        context_.fail(
            at,
            fmt::format("'{}' in expression '{}' is a buffer, not a number", name, text_of(value)),
            fmt::format("numbers only ({{\"tensor\": \"{}\", \"at\": \"...\"}} is the buffer "
                        "from an element on)",
                        name));
      }
      context_.fail(at,
                    fmt::format("unknown name '{}' in expression '{}'{}", name, text_of(value),
                                suggestion(name, known_)),
                    "an axis, scalar, parameter, let binding or device fact");
    }
  }

  void buffer(const BufferReference& reference) const {
    for (const auto& name : reference.pick) {
      if (name && std::find(buffers_.begin(), buffers_.end(), *name) == buffers_.end()) {
        context_.fail(reference.at,
                      fmt::format("unknown buffer '{}'{}", *name, suggestion(*name, buffers_)),
                      "a tensor of the task or a scratch buffer");
      }
    }
    expression(reference.by);
    expression(reference.offset);
  }

  void argument(const Argument& argument) const {
    if (const auto* integer = std::get_if<IntegerArgument>(&argument)) {
      const std::string& text = integer->value.expression.text();
      if (std::find(buffers_.begin(), buffers_.end(), text) != buffers_.end()) {
        return;
      }
      if (is_identifier(text) && std::find(known_.begin(), known_.end(), text) == known_.end()) {
        std::vector<std::string> all = known_;
        all.insert(all.end(), buffers_.begin(), buffers_.end());
        context_.fail(integer->value.at,
                      fmt::format("unknown name '{}' in args{}", text, suggestion(text, all)),
                      "a tensor, scratch buffer, axis, scalar, parameter or let binding");
      }
      expression(integer->value);
    } else if (const auto* real = std::get_if<FloatArgument>(&argument)) {
      expression(real->value, true);
    } else if (const auto* reference = std::get_if<BufferReference>(&argument)) {
      buffer(*reference);
    }
  }

  void launches(const std::vector<Launch>& list) {
    for (const Launch& launch : list) {
      expression(launch.when);
      std::visit([this](const auto& what) { check_launch(what); }, launch.what);
    }
  }

  void check_launch(const KernelLaunch& kernel) const {
    for (const PlanExpression& value : kernel.grid) {
      expression(value);
    }
    for (const PlanExpression& value : kernel.block) {
      expression(value);
    }
    expression(kernel.shared_bytes);
    for (const Argument& item : kernel.arguments) {
      argument(item);
    }
  }

  void check_launch(const Fill& fill) const {
    buffer(fill.buffer);
    expression(fill.count);
  }

  void check_launch(const Copy& copy) const {
    buffer(copy.from);
    buffer(copy.to);
    for (const PlanExpression* value :
         {&copy.count, &copy.rows, &copy.from_stride, &copy.to_stride}) {
      expression(*value);
    }
  }

  void check_launch(const Repeat& repeat) {
    expression(repeat.times);
    const std::size_t outer = known_.size();
    if (!repeat.as.empty()) {
      no_clash(repeat.as, repeat.times.at, "loop variable");
      known_.push_back(repeat.as);
    }
    declare(repeat.let);
    launches(repeat.body);
    known_.resize(outer);
  }

  const PlanContext& context_;
  std::vector<std::string> known_;
  std::vector<std::string> buffers_;
};

} // namespace

std::string PlanContext::shape_text() const {
  return hidden() ? "a hidden shape" : "shape " + shape_.id;
}

void PlanContext::fail(SourcePosition at, const std::string& what,
                       const std::string& expected) const {
  throw PlanMistake({file_.file, at, what, expected});
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

void check_names(const PlanContext& context, const Scope& scope,
                 const std::vector<Buffer>& buffers) {
  NameChecker(context, scope, buffers).check();
}

} // namespace winnow::tasks
