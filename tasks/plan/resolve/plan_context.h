#pragma once

#include "base/text/diagnostic.h"
#include "tasks/plan/resolve/plan_resolve.h"

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace winnow::tasks {

/// Ends the resolution of one launch. plan_resolve.cpp catches the exception and keeps its
/// diagnostic.
class PlanMistake : public std::exception {
public:
  explicit PlanMistake(Diagnostic diagnostic) : diagnostic_(std::move(diagnostic)) {}
  const Diagnostic& diagnostic() const { return diagnostic_; }

private:
  Diagnostic diagnostic_;
};

/// The text of the expression, cut off if long.
std::string text_of(const PlanExpression& value);

/// One plan at one shape: evaluates expressions and reports their mistakes. A message about a
/// hidden shape contains no value that reveals the sizes. Evaluation throws UnknownValue if it
/// needs a device constant before the file is compiled.
class PlanContext {
public:
  /// `compiled` is null before the file is compiled. All arguments must outlive the context.
  PlanContext(const KernelFile& file, const Task& task, const Shape& shape,
              const ParameterChoice& choice, const DeviceFacts& facts,
              const CompiledFacts* compiled)
      : file_(file), task_(task), shape_(shape), choice_(choice), facts_(facts),
        compiled_(compiled) {}

  const KernelFile& file() const { return file_; }
  const Task& task() const { return task_; }
  const Shape& shape() const { return shape_; }
  const ParameterChoice& choice() const { return choice_; }
  const DeviceFacts& facts() const { return facts_; }
  const CompiledFacts* compiled() const { return compiled_; }
  bool hidden() const { return is_hidden(shape_.set); }
  /// "shape search/1" or "a hidden shape"
  std::string shape_text() const;

  [[noreturn]] void fail(SourcePosition at, const std::string& what,
                         const std::string& expected = {}) const;
  /// As fail(), for a valid request that this device does not support.
  [[noreturn]] void fail_unsupported(SourcePosition at, const std::string& what) const;

  /// `what` is the expression's name in messages: "grid[0]".
  std::int64_t integer(const PlanExpression& value, const Scope& scope,
                       std::string_view what) const;
  double real(const PlanExpression& value, const Scope& scope, std::string_view what) const;
  /// As integer(), but a value outside [low, high] is a mistake: "grid[0] = ceil_div(n, TILE) = 0
  /// for shape tiny/0 (n=0, TILE=128); expected `expected`".
  std::int64_t integer_in(const PlanExpression& value, const Scope& scope, std::string_view what,
                          std::int64_t low, std::int64_t high, const std::string& expected) const;
  /// The part of that message before "; expected". Contains no values if the shape is hidden.
  std::string statement(const PlanExpression& value, const Scope& scope, std::string_view what,
                        const std::string& result) const;

  /// Evaluates the bindings into `scope`. A binding may use any other binding; a cycle is a
  /// mistake. A binding becomes Unknown if it needs a device constant before the file is compiled.
  void bind(const std::vector<LetBinding>& bindings, Scope& scope) const;

private:
  [[noreturn]] void no_value(const PlanExpression& value, const Scope& scope, std::string_view what,
                             const ExpressionError& error) const;

  const KernelFile& file_;
  const Task& task_;
  const Shape& shape_;
  const ParameterChoice& choice_;
  const DeviceFacts& facts_;
  const CompiledFacts* compiled_;
};

/// Checks the names of a plan, also in parts that this shape does not reach. Every name in an
/// expression must be known at its place. No name may hide another. `prepare` must name every kept
/// buffer. Throws PlanMistake.
void check_names(const PlanContext& context, const Scope& scope,
                 const std::vector<Buffer>& buffers);

} // namespace winnow::tasks
