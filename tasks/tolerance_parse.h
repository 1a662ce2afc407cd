#pragma once

#include "tasks/task.h"
#include "tasks/toml_reader.h"

namespace winnow::tasks {

/// The [tolerance] table of task.toml; `task` has its tensors already. Throws UsageError with
/// file:line:column.
Tolerance parse_tolerance(const TomlReader& table, const Task& task);

} // namespace winnow::tasks
