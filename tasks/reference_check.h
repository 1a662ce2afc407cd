#pragma once

#include "tasks/task/task.h"

namespace winnow::tasks {

/// Throws UsageError ("file:line: what") if the files of a task that was written for Winnow still
/// have the marks of a skeleton, or if Model of reference.py takes other tensors or scalars, or
/// returns another number of tensors, than task.toml has. Models read these files: call this before
/// a prompt is made. Says nothing about Python that it cannot read without running it.
void check_reference(const Task& task);

} // namespace winnow::tasks
