#pragma once

#include "evaluators/device/device_report.h"
#include "evaluators/host/machine_options.h"
#include "tasks/result/evaluation.h"
#include "tasks/task/task.h"

#include <string>
#include <string_view>

namespace winnow::evaluators {

/// Compiles for a GPU that the machine need not have (named_gpus.h) and runs nothing.
/// `checks_launches`: also checks each launch of the plan at the shown shapes with the facts of the
/// GPU. The verdict is NotJudged when the code compiles. Throws Error when no compiler works on
/// this machine.
tasks::Evaluation compile_only(const tasks::Task& task, std::string_view text,
                               const std::string& file_name, const DeviceReport& device,
                               bool checks_launches, const MachineOptions& machine);

} // namespace winnow::evaluators
