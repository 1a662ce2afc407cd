#pragma once

#include "tasks/plan/plan_resolve.h"
#include "tasks/task.h"
#include "tasks/toml_reader.h"

#include <string>
#include <vector>

namespace winnow::tasks {

/// The task's `[[library_baselines]]`; its axes, tensors and scalars must be there. Throws
/// UsageError with the position.
std::vector<LibraryBaseline> parse_library_baselines(const TomlReader& root, const Task& task);

/// Why the baseline's sizes do not fit its tensors at this shape; empty when they do. Throws
/// ExpressionError.
std::string library_mistake(const Task& task, const LibraryBaseline& baseline, const Shape& shape);

struct LibraryBaselinePlan {
  std::string name; ///< "cublaslt"
  ResolvedPlan plan;
};

/// One plan for each library baseline of the task: its tensors and a single LibraryStep.
std::vector<LibraryBaselinePlan> library_plans(const Task& task, const Shape& shape);

} // namespace winnow::tasks
