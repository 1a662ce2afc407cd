#pragma once

#include "harness/mcp/tools.h"

namespace winnow::harness {

using MakeToolCommand = ToolCommand(const nlohmann::json& arguments, KernelFiles& files);

MakeToolCommand list_tasks_command, describe_task_command, rules_command, evaluate_command,
    profile_command, race_command, leaderboard_command, get_kernel_command;

} // namespace winnow::harness
