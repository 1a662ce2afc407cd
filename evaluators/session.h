#pragma once

#include "evaluators/device/compiler.h"
#include "evaluators/evaluator.h"
#include "evaluators/judge/judge.h"
#include "evaluators/worker/arena.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// A kernel file compiled for some shapes with one choice of parameters.
struct BuiltKernel {
  const tasks::KernelFile* file = nullptr;
  const tasks::Task* task = nullptr; ///< the task as this file sees it
  tasks::ParameterChoice choice;
  CompileResult compiled;
};

/// What all evaluations of one task on one device share: the fences, the compiler, the shared
/// memory, the judge, and the task's own kernels.
struct Session {
  Session(tasks::Task task_to_judge, EvaluationOptions evaluation_options);

  /// Compiles `file` for what `shapes` need. Mistakes in kernel names go to `errors`.
  BuiltKernel build(const tasks::KernelFile& file, const tasks::Task& view,
                    const tasks::ParameterChoice& choice, const std::vector<tasks::Shape>& shapes,
                    BuildMode mode, std::vector<tasks::Diagnostic>& errors);
  /// The baseline or the reference, which must compile. Throws Error naming the task's file.
  const BuiltKernel& own_kernel(const tasks::KernelFile& file, const tasks::Task& view,
                                const std::vector<tasks::Shape>& shapes, BuiltKernel& slot);
  tasks::ResolvedPlan own_plan(const BuiltKernel& kernel, const tasks::Shape& shape) const;

  tasks::Task task;
  tasks::Task reference_task;
  EvaluationOptions options;
  DeviceReport device;
  Sandbox sandbox;
  Arena arena;
  std::filesystem::path cache;
  std::unique_ptr<Compiler> compiler;
  Judge judge;
  tasks::KernelFile reference_file;
  tasks::KernelFile baseline_file;
  BuiltKernel reference;
  BuiltKernel baseline;
  std::atomic<bool> cancelled{false};
};

} // namespace winnow::evaluators
