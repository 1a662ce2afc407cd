#pragma once

#include "evaluators/device/device_report.h"
#include "evaluators/host/machine_options.h"
#include "tasks/result/evaluation.h"
#include "tasks/task/task.h"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace winnow::evaluators {

/// What a kernel is compiled for, and what is done with it besides.
struct CompileTarget {
  DeviceReport device; ///< a GPU that the machine need not have (named_gpus.h)
  /// Also checks each launch of the plan at the shown shapes with the facts of the GPU.
  bool checks_launches = false;
  /// Called with the module of code that compiles, as long as its file exists. May be empty.
  std::function<void(const std::filesystem::path& module)> take_module = {};
};

/// Compiles and runs nothing. The verdict is NotJudged when the code compiles. Throws Error when no
/// compiler works on this machine.
tasks::Evaluation compile_only(const tasks::Task& task, std::string_view text,
                               const std::string& file_name, const CompileTarget& target,
                               const MachineOptions& machine);

} // namespace winnow::evaluators
