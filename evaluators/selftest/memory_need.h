#pragma once

#include "tasks/plan/device_facts.h"
#include "tasks/task/task.h"

#include <string_view>

namespace winnow::evaluators {

/// Throws UsageError, with the position in task.toml, if the tensors of reference.cu need more
/// memory at some shape than DeviceFacts::memory_bytes, or than Winnow's processes share. `device`:
/// its name for the message.
void require_memory(const tasks::Task& task, std::string_view device_kind,
                    const tasks::DeviceFacts& facts, std::string_view device);

} // namespace winnow::evaluators
