#pragma once

#include "agents/sessions/agent_adapter.h"
#include "base/availability.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace winnow::agents {

/// An agent that this machine has.
struct InstalledAgent {
  AgentAdapter adapter;
  std::filesystem::path program; ///< without links
  /// What a fence must show so that the program starts: its package, and the program that runs its
  /// script.
  std::vector<std::filesystem::path> parts;
  /// The variables that the adapter names, and those that every client of the network needs.
  std::map<std::string, std::string> environment;
};

/// Looks the program up in PATH. Takes the adapter's keys out of this process's environment, and
/// remembers them as secrets (keys/key_source.h). Throws UsageError if the program is not there.
InstalledAgent find_installed(const AgentAdapter& adapter);

/// Whether the agent is installed, with its version, for `winnow doctor`.
Availability probe_agent(const AgentAdapter& adapter);

} // namespace winnow::agents
