#pragma once

#include "tasks/task.h"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

std::string task_list_text(const std::vector<tasks::Task>& list);
/// Schema "winnow.tasks", version 1.
nlohmann::json task_list_json(const std::vector<tasks::Task>& list);

/// Everything about a task, except that of its hidden shapes only the number appears.
std::string task_text(const tasks::Task& task);
/// Schema "winnow.task", version 2.
nlohmann::json task_json(const tasks::Task& task);

} // namespace winnow::harness
