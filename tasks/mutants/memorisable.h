#pragma once

#include "tasks/task/task.h"

#include <string>
#include <string_view>

namespace winnow::tasks {

/// Why a kernel could answer a timed launch from memory without working; empty if it could not. At
/// every search shape of the device, at least one input that is not static must differ between two
/// seeds. Otherwise all launches have the same answer. Compares up to 2^20 elements of each input;
/// a difference beyond them does not count.
std::string why_timings_can_be_memorised(const Task& task, std::string_view device_kind);

} // namespace winnow::tasks
