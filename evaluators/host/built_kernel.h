#pragma once

#include "evaluators/device/compiler.h"
#include "evaluators/messages/shared_plan.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/resolve/plan_resolve.h"
#include "tasks/task/task.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// A kernel's plan at one shape.
struct PlanAtShape {
  std::optional<SharedPlan> plan; ///< nullopt: see `errors`
  std::vector<Diagnostic> errors;
  std::vector<Diagnostic> warnings;
};

/// A kernel file compiled for some shapes with one choice of parameters.
struct BuiltKernel {
  const tasks::KernelFile* file = nullptr;
  const tasks::Task* task = nullptr; ///< the task with the names that this file uses
  tasks::ParameterChoice choice;
  CompileResult compiled;
  /// What plan_at() has resolved for a device with the facts `planned_for`, by everything that
  /// makes a shape. Its id is not enough: a mutant of the inputs changes scalars, and keeps the id.
  mutable std::map<std::string, PlanAtShape> plans;
  mutable tasks::DeviceFacts planned_for;
};

/// Compiles `file` with the kernels that `shapes` need on a device with these facts. Mistakes in
/// the plan go to `errors`.
BuiltKernel build_kernel(Compiler& compiler, const tasks::DeviceFacts& facts,
                         const tasks::KernelFile& file, const tasks::Task& view,
                         const tasks::ParameterChoice& choice,
                         const std::vector<tasks::Shape>& shapes, BuildMode mode,
                         const std::function<bool()>& cancelled, std::vector<Diagnostic>& errors);

/// The plan of `kernel` at a shape. Resolves the plan with the first call only. The reference is
/// valid until the next call with `kernel`. Two threads may not use one `kernel` at the same time.
const PlanAtShape& plan_at(const BuiltKernel& kernel, const tasks::DeviceFacts& facts,
                           const tasks::Shape& shape);
/// True if `kernel` is compiled, with all kernels that its plan launches at `shapes`, and the file
/// of the module still exists. Then nothing is to be compiled for these shapes.
bool serves(const BuiltKernel& kernel, const tasks::DeviceFacts& facts,
            const std::vector<tasks::Shape>& shapes);

/// The first allowed choice; empty when no choice is allowed.
tasks::ParameterChoice default_choice(const tasks::KernelFile& file);

/// The shapes for which a candidate is compiled first: tiny and search.
std::vector<tasks::Shape> shown_shapes(const tasks::Task& task, const std::string& device_kind);

} // namespace winnow::evaluators
