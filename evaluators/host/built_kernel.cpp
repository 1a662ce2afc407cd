#include "evaluators/host/built_kernel.h"

#include "base/files.h"
#include "tasks/plan/plan_constants.h"
#include "tasks/plan/tuning/parameter_choices.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace winnow::evaluators {
namespace {

bool wants_fast_math(const tasks::KernelFile& file, const tasks::ParameterChoice& choice,
                     std::vector<Diagnostic>& errors) {
  try {
    return tasks::uses_fast_math(file.plan, choice);
  } catch (const tasks::ExpressionError& error) {
    errors.push_back({file.file, file.plan.fast_math.at, std::string("fast_math: ") + error.what(),
                      "true, false or a parameter"});
    return false;
  }
}

/// Writes values so that two keys differ if anything in the values differs.
class KeyWriter {
public:
  template <typename T> void add(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      key_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    } else {
      add(value.size());
      for (const auto& element : value) {
        add(element);
      }
    }
  }
  void add(const std::string& text) {
    add(text.size());
    key_ += text;
  }
  template <typename First, typename Second> void add(const std::pair<First, Second>& value) {
    add(value.first);
    add(value.second);
  }
  std::string take() { return std::move(key_); }

private:
  std::string key_;
};

std::string key_of(const tasks::Shape& shape) {
  const auto& [id, set, axes, scalars, devices, axis_order] = shape;
  KeyWriter key;
  key.add(id);
  key.add(set);
  key.add(axes);
  key.add(scalars);
  key.add(devices);
  key.add(axis_order);
  return key.take();
}

} // namespace

BuiltKernel build_kernel(Compiler& compiler, const tasks::DeviceFacts& facts,
                         const tasks::KernelFile& file, const tasks::Task& view,
                         const tasks::ParameterChoice& choice,
                         const std::vector<tasks::Shape>& shapes, BuildMode mode,
                         const std::function<bool()>& cancelled, std::vector<Diagnostic>& errors) {
  BuiltKernel built{&file, &view, choice, {}, {}, {}};
  CompileRequest request;
  request.file = file.file;
  request.source = file.source;
  request.parameters = choice;
  request.kernels = tasks::kernel_names(file, view, shapes, choice, facts, errors);
  request.constants = tasks::device_constants(file, choice, errors);
  request.mode = mode;
  request.fast_math = wants_fast_math(file, choice, errors);
  if (errors.empty()) {
    built.compiled = compiler.compile(request, cancelled);
  }
  return built;
}

const PlanAtShape& plan_at(const BuiltKernel& kernel, const tasks::DeviceFacts& facts,
                           const tasks::Shape& shape) {
  constexpr std::size_t kMostPlans = 64; // a task has some twenty shapes
  if (kernel.planned_for != facts) {
    kernel.plans.clear();
    kernel.planned_for = facts;
  }
  std::string key = key_of(shape);
  if (const auto known = kernel.plans.find(key); known != kernel.plans.end()) {
    return known->second;
  }
  PlanAtShape at;
  if (auto plan = tasks::resolve_plan(*kernel.file, *kernel.task, shape, kernel.choice, facts,
                                      kernel.compiled.facts, at.errors, at.warnings)) {
    at.plan = std::move(*plan);
  }
  if (kernel.plans.size() >= kMostPlans) {
    kernel.plans.clear();
  }
  return kernel.plans.emplace(std::move(key), std::move(at)).first->second;
}

bool serves(const BuiltKernel& kernel, const tasks::DeviceFacts& facts,
            const std::vector<tasks::Shape>& shapes) {
  const auto holds = [&](const tasks::Shape& shape) {
    return plan_at(kernel, facts, shape).plan.has_value();
  };
  return kernel.compiled.verdict == tasks::Verdict::Correct &&
         std::all_of(shapes.begin(), shapes.end(), holds) && is_file(kernel.compiled.module);
}

tasks::ParameterChoice default_choice(const tasks::KernelFile& file) {
  const auto choices = tasks::parameter_choices(file.plan, 1);
  return choices.empty() ? tasks::ParameterChoice{} : choices.front();
}

std::vector<tasks::Shape> shown_shapes(const tasks::Task& task, const std::string& device_kind) {
  std::vector<tasks::Shape> shapes = task.shapes_of(tasks::ShapeSet::Tiny, device_kind);
  for (tasks::Shape& shape : task.shapes_of(tasks::ShapeSet::Search, device_kind)) {
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

} // namespace winnow::evaluators
