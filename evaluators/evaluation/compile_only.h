#pragma once

#include "evaluators/host/machine_options.h"
#include "tasks/result/evaluation.h"
#include "tasks/task/task.h"

#include <string>
#include <string_view>

namespace winnow::evaluators {

/// Compiles for a GPU architecture ("sm_90a", "gfx90a") and runs nothing. The machine needs no such
/// GPU. The verdict is NotJudged when the code compiles. Throws Error when no compiler works on
/// this machine.
tasks::Evaluation compile_only(const tasks::Task& task, std::string_view text,
                               const std::string& file_name, const std::string& kind,
                               const std::string& architecture, const MachineOptions& machine);

} // namespace winnow::evaluators
