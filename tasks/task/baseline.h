#pragma once

#include "tasks/task/task.h"

#include <string_view>

namespace winnow::tasks {

inline constexpr const char* kBaselineFile = "baseline.cu";
inline constexpr const char* kCpuBaselineFile = "baseline.cpu.cu";

/// On the CPU device, baseline.cpu.cu takes the place of `baseline` if the task has that file. A
/// second call changes nothing, and the digest stays.
void take_baseline_of(Task& task, std::string_view device_kind);
/// The name of the file whose text is in `baseline`.
const char* baseline_file(const Task& task);
/// What the speedups of the task are against: the file whose text is in `baseline`, or PyTorch.
std::string_view speedup_versus(const Task& task);
/// The same on a kind of device, also before take_baseline_of().
std::string_view speedup_versus(const Task& task, std::string_view device_kind);
/// The texts of the task's files, also after take_baseline_of().
TaskTexts task_texts(const Task& task);

} // namespace winnow::tasks
