#include "tasks/task/baseline.h"

#include "tasks/task/speedup_versus.h"

#include <utility>

namespace winnow::tasks {

void take_baseline_of(Task& task, std::string_view device_kind) {
  if (device_kind == "cpu" && !task.cpu_baseline.empty() && task.gpu_baseline.empty()) {
    task.gpu_baseline = std::exchange(task.baseline, task.cpu_baseline);
  }
}

const char* baseline_file(const Task& task) {
  return task.gpu_baseline.empty() ? kBaselineFile : kCpuBaselineFile;
}

std::string_view speedup_versus(const Task& task) {
  return task.baseline.empty() ? kVersusEager : baseline_file(task);
}

std::string_view speedup_versus(const Task& task, std::string_view device_kind) {
  return task.baseline.empty()                                ? kVersusEager
         : device_kind == "cpu" && !task.cpu_baseline.empty() ? kVersusCpuBaseline
                                                              : kVersusBaseline;
}

TaskTexts task_texts(const Task& task) {
  return {task.task_toml, task.reference,
          task.gpu_baseline.empty() ? task.baseline : task.gpu_baseline, task.reference_python,
          task.cpu_baseline};
}

} // namespace winnow::tasks
