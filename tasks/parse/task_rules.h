#pragma once

#include "base/text/toml_reader.h"
#include "tasks/task/task.h"

#include <string>
#include <vector>

namespace winnow::tasks {

/// Throws UsageError, with the position in task.toml, if no shape and no generator of a tensor uses
/// an axis. A task whose reference is a PyTorch module may have such axes: an import names the
/// sizes that are arguments of layers only. `axes` is the table of the axes.
void check_axes(const TomlReader& axes, const Task& task);

/// Throws UsageError, with the position in task.toml, if a hidden shape has the sizes of a search
/// shape for the same kind of device. A task whose reference is a PyTorch module may have such
/// shapes, because the module may fix all sizes. `shapes` is the table of the sets.
void check_hidden_shapes(const TomlReader& shapes, const Task& task);

/// Reads the [tolerance] table of task.toml. `task` must already have its tensors. `intermediates`:
/// the names that reference.cu marks (narrowing.h). Throws UsageError with file:line:column.
Tolerance parse_tolerance(const TomlReader& table, const Task& task,
                          const std::vector<std::string>& intermediates);

} // namespace winnow::tasks
