#pragma once

#include "harness/mcp/kernel_files.h"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::harness {

/// A command line of the program, in parts.
struct ToolCommand {
  std::vector<std::string> words;    ///< "tasks", "show"
  std::vector<std::string> options;  ///< "--json"
  std::vector<std::string> operands; ///< may begin with "-"
};

/// A tool, which is a command of the program.
struct Tool {
  std::string name;
  std::string title;
  std::string description;  ///< for the agent: what it does, and when to use it
  nlohmann::json arguments; ///< their JSON Schema
  bool only_reads = true;   ///< and runs no kernel
  /// The command line for arguments that agree with the schema. Throws UsageError.
  ToolCommand (*command)(const nlohmann::json& arguments, KernelFiles& files) = nullptr;
  std::vector<std::string> here_only = {}; ///< arguments that a server decides, where one judges
};

const std::vector<Tool>& tools();

/// The result of the method tools/list. `at_server`: a server judges, so no tool has arguments that
/// it decides.
nlohmann::json tool_list_json(bool at_server);

} // namespace winnow::harness
