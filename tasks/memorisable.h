#pragma once

#include "tasks/task.h"

#include <string>
#include <string_view>

namespace winnow::tasks {

/// Why a kernel could answer timed launches from memory instead of doing the work; empty: it could
/// not. At every search shape of the device some input that is not static must differ between two
/// seeds, else all launches have the same answer. Draws up to 2^20 elements of each input; what
/// differs only beyond them counts as the same.
std::string why_timings_can_be_memorised(const Task& task, std::string_view device_kind);

} // namespace winnow::tasks
