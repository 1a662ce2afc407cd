#pragma once

#include "harness/mcp/command_runner.h"
#include "harness/mcp/tools.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace winnow::harness {

/// What a caller sees and decides while a tool works.
struct ToolWatch {
  std::function<bool()> goes_on;                       ///< false: the call was cancelled
  std::function<void(const std::string& what)> report; ///< progress in words
};

/// The command line of a tool: words, options, `server` options, and operands behind "--".
std::vector<std::string> command_line(const ToolCommand& command,
                                      const std::vector<std::string>& server);

/// Whether the `server` options of commands name a server.
bool is_at_server(const std::vector<std::string>& server);

/// Runs a tool. The result is that of the method tools/call, for which bad arguments and a command
/// that failed are results, too, because a model can read and mend them. nullopt: cancelled.
std::optional<nlohmann::json> call_tool(const Tool& tool, const nlohmann::json& arguments,
                                        const std::vector<std::string>& server,
                                        CommandRunner& runner, const ToolWatch& watch);

/// A result that says what was wrong and what to do.
nlohmann::json tool_error(const std::string& what, const std::string& remedy);

} // namespace winnow::harness
