#pragma once

#include "tasks/task/task.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// Sentences about probable mistakes in task.toml for a kind of device. The check runs no kernel.
/// It reports:
/// - a hidden shape with the sizes of a shape that prompts show;
/// - a held-out shape with the sizes of a promotion shape;
/// - `bytes` that at a search shape is above the size of all tensors, below the size of the
///   outputs, or a small part of all tensors although no tensor holds indices;
/// - an input from a fixed distribution, which only tasks with a PyTorch module may have;
/// - a shape whose tensors need more than kSharedBytes, if the reference is reference.cu.
std::vector<std::string> doubts_of(const Task& task, std::string_view device_kind);

} // namespace winnow::tasks
