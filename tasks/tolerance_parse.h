#pragma once

#include "tasks/task.h"
#include "tasks/toml_reader.h"

namespace winnow::tasks {

/// Reads the [tolerance] table of task.toml. `task` must already have its tensors. Throws
/// UsageError with file:line:column.
Tolerance parse_tolerance(const TomlReader& table, const Task& task);

} // namespace winnow::tasks
