#pragma once

#include "tasks/plan/kernel_file.h"
#include "tasks/task/task.h"

#include <optional>
#include <string>
#include <vector>

namespace winnow::tasks {

/// The text of the file with the values in `params` reordered, so that `choice` is the default. All
/// other bytes stay. `choice` is one of the plan's: a value that a list lacks changes nothing.
std::string with_default(const KernelFile& file, const ParameterChoice& choice);

/// The best choice at one shape.
struct ShapeWinner {
  Shape shape;
  ParameterChoice choice;
};

/// The text of one file that picks each winner's choice at its shape. A parameter whose best value
/// differs between the winners becomes a let binding, such as "n >= 29000000 ? 512 : 128". For the
/// other parameters the winners' common value becomes the default.
/// The size that decides is an axis, or else the product of all axes, along which each distinct
/// choice wins in one interval. The thresholds are the geometric means between neighbours, rounded
/// to two digits where that separates them, too. A `where` over a parameter that became a binding
/// is rewritten for the winners' values. Line numbers stay. nullopt, with a reason in `why_not`: no
/// such size exists, the device code may use the name of such a parameter
/// (tasks/source/name_use.h), a device constant or fast_math depends on it, or the new file does
/// not give each winner's values and kernels at its shape.
std::optional<std::string> with_dispatch(const KernelFile& file, const Task& task,
                                         const std::vector<ShapeWinner>& winners,
                                         std::string& why_not);

} // namespace winnow::tasks
