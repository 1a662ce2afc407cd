#pragma once

#include "tasks/task/task.h"

#include <string>

namespace winnow::tasks {

/// How the elements of an input are distributed, and which ranges vary, for people and models:
/// "normally distributed, mean from -1 to 1, standard deviation from 0.5 to 2, drawn anew for each
/// launch".
std::string distribution_text(const TensorSpec& tensor);

} // namespace winnow::tasks
