#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// From where a PyTorch module comes, and how it is run.
struct ModuleOrigin {
  std::string origin; ///< for people: "KernelBench level1/19_ReLU.py", or a path
  std::string mode;   ///< "train" or "eval"
};

/// The text of a task.toml for a PyTorch module. `description`: torch_child.py's answer to
/// "describe" (evaluators/torch/README.md). Throws Error if Winnow has no task for such a module
/// yet.
std::string module_task_toml(const nlohmann::json& description, const ModuleOrigin& origin);

/// What a task says of itself on boards: flags of the description, and the mutants that pass.
std::vector<std::string> module_flags(const nlohmann::json& description);

} // namespace winnow::harness
