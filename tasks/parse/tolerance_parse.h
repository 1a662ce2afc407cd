#pragma once

#include "base/text/toml_reader.h"
#include "tasks/task/task.h"

#include <string>
#include <vector>

namespace winnow::tasks {

/// Reads the [tolerance] table of task.toml. `task` must already have its tensors. `intermediates`:
/// the names that reference.cu marks (narrowing.h). Throws UsageError with file:line:column.
Tolerance parse_tolerance(const TomlReader& table, const Task& task,
                          const std::vector<std::string>& intermediates);

} // namespace winnow::tasks
