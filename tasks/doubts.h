#pragma once

#include "tasks/task.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// What looks like a mistake in task.toml for a kind of device, one sentence each. Nothing is run:
/// - a hidden shape has the sizes of one that prompts show, or a held-out shape those of a hidden
///   one that gates;
/// - at a search shape, `bytes` is more than the tensors have, less than the outputs have, or a
/// small
///   part of the tensors where no tensor of indices says which part.
std::vector<std::string> doubts_of(const Task& task, std::string_view device_kind);

} // namespace winnow::tasks
