#include "tasks/host_program/kernel_values.h"

#include "base/error.h"
#include "base/text.h"
#include "tasks/plan/plan_constants.h"
#include "tasks/plan/resolve/plan_context.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

constexpr std::int64_t kFewestMultiprocessors = 16;
constexpr std::int64_t kMostMultiprocessors = 256;
constexpr std::size_t kMostValues = 64; ///< each one makes the compiler write a kernel

using AllValues = std::map<std::pair<int, int>, std::set<NameValues>>;

const char* const kRemedy = "take the kernel file alone, with 'winnow show ID --source', or name "
                            "the kernel by parameters and sizes only";

bool has_late_names(const std::vector<Launch>& launches, const Plan& plan) {
  return std::any_of(launches.begin(), launches.end(), [&](const Launch& launch) {
    const auto* kernel = std::get_if<KernelLaunch>(&launch.what);
    const auto* repeat = std::get_if<Repeat>(&launch.what);
    return (kernel != nullptr && !late_names(*kernel, plan).empty()) ||
           (repeat != nullptr && has_late_names(repeat->body, plan));
  });
}

/// Runs through the launches at one shape on one GPU, and notes the values in kernels' names.
class LoopWalk {
public:
  LoopWalk(const PlanToWrite& plan, const Shape& shape, const FactValues& known, AllValues& found)
      : plan_(plan), context_(plan.file, plan.task, shape, plan.choice, facts_, nullptr),
        found_(found) {
    for (const auto& [name, value] : fact_values({})) {
      const auto fact = known.find(name);
      scope_.set(name, fact == known.end() ? Value(Unknown()) : Value(fact->second));
    }
    bind_shape(plan.task, shape, scope_);
    for (const TensorSpec& tensor : plan.task.tensors) {
      set_size(tensor.name, tensor.dtype);
    }
    for (const ScratchBuffer& scratch : plan.file.plan.scratch) {
      set_size(scratch.name, scratch.dtype);
    }
    for (const auto& [name, value] : plan.choice) {
      scope_.set(name, value);
    }
  }

  /// Values at which the plan has a mistake are left out: such a GPU cannot run it.
  void run() {
    try {
      context_.bind(plan_.file.plan.let, scope_);
      visit(plan_.file.plan.prepare, scope_);
      visit(plan_.file.plan.launches, scope_);
    } catch (const PlanMistake&) {
    }
  }

private:
  void set_size(const std::string& buffer, DType dtype) {
    scope_.set("sizeof(" + buffer + ")", static_cast<std::int64_t>(size_bytes(dtype)));
  }

  /// nullopt: not known before the program runs.
  std::optional<std::int64_t> value(const PlanExpression& expression, const Scope& scope) const {
    try {
      return context_.integer(expression, scope, "value");
    } catch (const UnknownValue&) {
      return std::nullopt;
    }
  }

  void visit(const std::vector<Launch>& launches, const Scope& scope) {
    for (const Launch& launch : launches) {
      if (!launch.when.expression.empty() && value(launch.when, scope) == 0) {
        continue;
      }
      if (const auto* repeat = std::get_if<Repeat>(&launch.what)) {
        visit_turns(*repeat, scope);
      } else if (const auto* kernel = std::get_if<KernelLaunch>(&launch.what)) {
        note(*kernel, launch.at, scope);
      }
    }
  }

  void visit_turns(const Repeat& repeat, const Scope& scope) {
    if (!has_late_names(repeat.body, plan_.file.plan)) {
      return;
    }
    const std::optional<std::int64_t> times = value(repeat.times, scope);
    const std::int64_t end = times ? std::min(*times, facts_.max_steps) : 1;
    for (std::int64_t i = 0; i < end; ++i) {
      Scope inner(&scope);
      if (!repeat.as.empty()) {
        inner.set(repeat.as, times ? Value(i) : Value(Unknown()));
      }
      context_.bind(repeat.let, inner);
      visit(repeat.body, inner);
    }
  }

  void note(const KernelLaunch& kernel, SourcePosition at, const Scope& scope) {
    const std::vector<std::string> names = late_names(kernel, plan_.file.plan);
    if (names.empty()) {
      return;
    }
    NameValues values;
    for (const std::string& name : names) {
      const Value* value = scope.find(name);
      const auto* integer = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
      if (integer == nullptr) {
        fail(kernel, at, fmt::format("depends on '{}', which only a running program knows", name));
      }
      values.push_back(*integer);
    }
    std::set<NameValues>& all = found_[{at.line, at.column}];
    all.insert(values);
    if (all.size() > kMostValues) {
      fail(kernel, at,
           fmt::format("has more than {} values at these shapes on GPUs of {} to {} "
                       "multiprocessors",
                       kMostValues, kFewestMultiprocessors, kMostMultiprocessors));
    }
  }

  [[noreturn]] void fail(const KernelLaunch& kernel, SourcePosition at,
                         const std::string& why) const {
    throw UsageError(fmt::format("{}:{}:{}: the name of kernel '{}' {}", plan_.file.file, at.line,
                                 at.column, kernel.kernel, why),
                     kRemedy);
  }

  const PlanToWrite& plan_;
  const DeviceFacts facts_;
  const PlanContext context_;
  AllValues& found_;
  Scope scope_;
};

} // namespace

std::vector<std::string> late_names(const KernelLaunch& launch, const Plan& plan) {
  std::vector<std::string> names;
  replace_placeholders(launch.kernel, [&](std::string_view inside) {
    const bool is_parameter = find_named(plan.parameters, inside) != nullptr;
    if (is_identifier(inside) && !is_parameter && !contains(names, inside)) {
      names.emplace_back(inside);
    }
    return std::optional<std::string>();
  });
  return names;
}

std::map<std::pair<int, int>, std::set<NameValues>> kernel_values(const PlanToWrite& plan) {
  const Plan& steps = plan.file.plan;
  AllValues found;
  if (!has_late_names(steps.prepare, steps) && !has_late_names(steps.launches, steps)) {
    return found;
  }
  try {
    for (const Shape& shape : plan.shapes) {
      for (std::int64_t count = kFewestMultiprocessors; count <= kMostMultiprocessors; ++count) {
        LoopWalk(plan, shape, {{"sm_count", count}}, found).run();
      }
    }
    return found;
  } catch (const UsageError&) {
    if (plan.facts.empty()) {
      throw;
    }
  }
  found.clear();
  for (const Shape& shape : plan.shapes) {
    LoopWalk(plan, shape, plan.facts, found).run();
  }
  return found;
}

} // namespace winnow::tasks
