#pragma once

#include "base/text/toml_reader.h"
#include "tasks/task.h"

namespace winnow::tasks {

/// Reads the [tolerance] table of task.toml. `task` must already have its tensors. Throws
/// UsageError with file:line:column.
Tolerance parse_tolerance(const TomlReader& table, const Task& task);

} // namespace winnow::tasks
