#pragma once

#include "evaluators/device/device_report.h"
#include "tasks/task/task.h"

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// `winnow rules`, schema "winnow.rules": what prompts say, for a reader. `task`: nullopt: what
/// holds for all tasks. `named`: the task as the user names it; may be empty. `note`: about the
/// device; may be empty.
nlohmann::json rules_document(std::optional<tasks::Task> task,
                              const evaluators::DeviceReport& device, const std::string& named,
                              const std::string& note);

} // namespace winnow::harness
