#pragma once

#include "tasks/task/task.h"

namespace winnow::remote {

/// The task as workers see it that may not know the held-out shapes: its promotion shapes stand in
/// their place, because a task needs shapes of each set. The digest is that of the changed files.
/// Throws Error if the text of task.toml hides where its held-out shapes are.
tasks::Task without_held_out(const tasks::Task& task);

} // namespace winnow::remote
