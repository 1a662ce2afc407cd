#pragma once

#include "tasks/host_program/host_program.h"

#include <string>
#include <vector>

namespace winnow::tasks {

/// A Python file in KernelBench's form, for a task whose reference is a PyTorch module: the module
/// byte for byte, the kernel as in extension.py, and a class ModelNew. Throws UsageError for other
/// tasks, and where a name of the module is one that the file needs; and as torch_extension().
std::string kernelbench_file(const HostProgram& program);

/// The file's name as KernelBench's scripts look for it: "level_2_problem_73_sample_0_kernel.py".
/// "NAME_kernel.py" where the task's origin has no level and number.
std::string kernelbench_file_name(const Task& task);

/// What a user must know before KernelBench judges the file: words in `text` that its static check
/// takes for a trick, and where the task differs from the problem. Sentences.
std::vector<std::string> kernelbench_notes(const Task& task, const std::string& text);

} // namespace winnow::tasks
