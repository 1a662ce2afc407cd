#pragma once

#include "tasks/task/task.h"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// Schema "winnow.tasks", version 1.
nlohmann::json task_list_json(const std::vector<tasks::Task>& list);
std::string task_list_text(const nlohmann::json& document);

/// Everything about a task, except that of its hidden shapes only the number appears. Schema
/// "winnow.task", version 2.
nlohmann::json task_json(const tasks::Task& task);
std::string task_text(const nlohmann::json& document);

// For clients of a server, who need not know where files are: without the folders of tasks.
nlohmann::json served_list_json(const std::vector<tasks::Task>& list);
nlohmann::json served_task_json(const tasks::Task& task);

} // namespace winnow::harness
