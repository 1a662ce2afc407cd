#pragma once

#include "tasks/task/task.h"

#include <functional>
#include <string>
#include <vector>

namespace winnow::harness {

/// Where PyTorch does not start, removes the tasks that it answers for. Returns a line that names
/// them and says why; empty: nothing was removed. Throws Error if no task is left.
/// `start_torch`: throws Error if PyTorch is missing.
std::string leave_out_torch_tasks(std::vector<tasks::Task>& tasks,
                                  const std::function<void()>& start_torch);

} // namespace winnow::harness
