#pragma once

#include "agents/sessions/agent_output.h"
#include "agents/sessions/installed_agent.h"
#include "agents/sessions/workspace.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace winnow::agents {

/// Why a session ended.
enum class SessionEnd : std::uint8_t {
  Done, ///< the agent ended by itself, without a complaint
  NotLoggedIn,
  Asked, ///< it wants a confirmation, and nobody is there
  NoCredit,
  DollarLimit,
  TimeLimit,
  OutputLimit,
  FolderLimit,
  Crashed,
  Cancelled,
};
/// Whether the next session would end so, too, because the agent is not set up.
bool is_set_up_wrong(SessionEnd end);

struct SessionBounds {
  std::chrono::milliseconds time{0};
  double dollars = 0; ///< 0: none
  std::uint64_t output_bytes = std::uint64_t{64} << 20U;
  std::uint64_t file_bytes = std::uint64_t{1} << 30U;
  unsigned processes = 1024;
  FolderLimits folder;
  std::chrono::milliseconds between_looks{1000}; ///< at the size of the folder
};

struct SessionOutcome {
  SessionEnd end = SessionEnd::Crashed;
  std::string why; ///< a sentence; empty if Done
  std::string remedy;
  AgentOutput output;
  std::string out, err; ///< what it printed
  double seconds = 0;
  bool was_killed = false; ///< so it may have spent more than it said
};

/// Runs the agent in the workspace until it ends or exceeds a bound; then no process of it is left.
/// `fenced`: it sees the workspace, its own program and login, and the system, nothing else.
SessionOutcome run_agent(const InstalledAgent& agent, const Workspace& workspace,
                         const std::string& prompt, const std::string& model, bool fenced,
                         const std::string& server, const SessionBounds& bounds,
                         const std::function<bool()>& cancelled);

} // namespace winnow::agents
