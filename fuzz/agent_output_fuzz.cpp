#include "agents/sessions/agent_output.h"
#include "base/error.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

using namespace winnow::agents;

namespace {

/// The places of configs/agents.toml that differ in kind.
AgentOutputForm some_form(AgentOutputForm::Form form) {
  AgentOutputForm output;
  output.form = form;
  output.text = {{{"item", "text"}, {"item", "type"}, "agent_message"}, {{"result"}, {}, {}}};
  output.errors = {{{"error", "message"}, {}, {}}};
  output.failed = {{{"is_error"}, {}, {}}};
  output.asks = {{{"permission_denials", "*", "tool_name"}, {}, {}}};
  output.prompt_tokens = {{{"modelUsage", "*", "inputTokens"}, {}, {}},
                          {{"usage", "input_tokens"}, {"type"}, "turn.completed"}};
  output.dollars = {{{"total_cost_usd"}, {}, {}}};
  return output;
}

} // namespace

// The first byte chooses the form. Whatever an agent prints, the numbers make sense. A text that
// begins like a file of agents is read as one, too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto form = static_cast<AgentOutputForm::Form>(data[0] % 3);
  const AgentOutput output = read_agent_output(some_form(form), text);
  if (output.usage.prompt_tokens < 0 || output.usage.tokens() < 0 ||
      !(output.dollars.value_or(0) >= 0) || !std::isfinite(output.dollars.value_or(0))) {
    std::abort();
  }
  try {
    for (const AgentAdapter& agent : parse_agents(text, "agents.toml")) {
      if (agent.command.empty()) {
        std::abort();
      }
    }
  } catch (const winnow::UsageError&) { // the text has a mistake
    return 0;
  }
  return 0;
}
