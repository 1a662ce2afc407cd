#pragma once

#include "harness/serve/judge_request.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// The form in which a trainer asks for rewards.
enum class Trainer : std::uint8_t {
  OpenRlhf,      ///< {"query": [...], "prompts": [...], "labels": [...]}
  Slime,         ///< {"prompt", "response", "label"}
  NemoGym,       ///< {"responses_create_params", "response", "verifier_metadata"}
  KernelGymBatch ///< {"batch_id", "tasks": [{"task_id", "kernel_code", "task"}]}
};

/// The items of such a request. A label, or verifier_metadata.task, names the task; `task` is for
/// requests that name none. The prompt in front of a reply is taken off. Throws UsageError.
std::vector<JudgeItem> trainer_items(Trainer trainer, const nlohmann::json& body,
                                     const std::string& task);

/// The answer in the form of the trainer. `results`: one for each item, in the order of the items,
/// each with a reward. `as_object`: slime gets an object instead of a number.
nlohmann::json trainer_reply(Trainer trainer, const nlohmann::json& body,
                             const std::vector<nlohmann::json>& results, bool as_object);

/// What NeMo Gym asks for when all rollouts are done: the mean of their rewards. Throws UsageError.
nlohmann::json nemo_gym_metrics(const nlohmann::json& body);

/// A task of KernelGYM: `task_id`, `kernel_code` and, in place of `reference_code`, `task`. Without
/// `task` in the body and in the URL, `entry_point` names the task: the client of Dr. Kernel sends
/// no member of its own.
JudgeItem kernelgym_item(const nlohmann::json& body, const std::string& task);
/// The priority that KernelGYM's "low" and "high" stand for; 0 for all else. `body`: a task, or a
/// batch, of which the highest priority counts.
int kernelgym_priority(const nlohmann::json& body);
/// KernelGYM's form of a result. nullptr: there is none yet.
nlohmann::json kernelgym_status(const std::string& id, const nlohmann::json* result);

} // namespace winnow::harness
