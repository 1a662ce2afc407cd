#pragma once

#include "base/text/toml_reader.h"
#include "tasks/plan/resolve/plan_resolve.h"
#include "tasks/task/task.h"

#include <string>
#include <vector>

namespace winnow::tasks {

/// Reads `[[library_baselines]]` of a task. `task` must already have its axes, tensors and scalars.
/// Throws UsageError with the position.
std::vector<LibraryBaseline> parse_library_baselines(const TomlReader& root, const Task& task);

/// Why the sizes of the baseline do not fit its tensors at this shape; empty if they fit. Throws
/// ExpressionError.
std::string library_mistake(const Task& task, const LibraryBaseline& baseline, const Shape& shape);

struct LibraryBaselinePlan {
  std::string name; ///< "cublaslt"
  ResolvedPlan plan;
};

/// The plan of each library baseline: the tensors of the task and a LibraryStep. A copy of the
/// added tensor into the result comes before it.
std::vector<LibraryBaselinePlan> library_plans(const Task& task, const Shape& shape);

} // namespace winnow::tasks
