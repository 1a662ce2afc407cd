#pragma once

#include "tasks/task/task.h"

#include <string>

namespace winnow::tasks {

/// A kernel file to begin with: a launch plan that passes every tensor, scalar and axis of the
/// task, and a kernel that compiles and computes nothing. Comments say what to fill in.
std::string starter_file(const Task& task);

} // namespace winnow::tasks
