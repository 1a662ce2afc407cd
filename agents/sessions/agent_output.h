#pragma once

#include "agents/money/usage.h"
#include "agents/sessions/agent_adapter.h"

#include <optional>
#include <string>
#include <string_view>

namespace winnow::agents {

/// What an agent printed, read as its adapter says.
struct AgentOutput {
  std::string text;   ///< its last words
  std::string errors; ///< what it says went wrong, one error a line
  bool failed = false;
  bool asked = false; ///< it wanted a confirmation
  std::string session;
  Usage usage;
  std::optional<double> dollars; ///< nullopt: it reported none
};

/// Never throws: what cannot be read is left out.
AgentOutput read_agent_output(const AgentOutputForm& form, std::string_view out);

} // namespace winnow::agents
