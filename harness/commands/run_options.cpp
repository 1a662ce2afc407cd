#include "harness/commands/run_options.h"

#include <CLI/CLI.hpp>

namespace winnow::harness {

void add_run_options(CLI::App& command, RunOptions& options) {
  command.add_option("--max-calls", options.max_calls,
                     "limit on model calls, resumed sessions included; 0: none [limits.calls]");
  command.add_option("--max-tokens", options.max_tokens,
                     "limit on tokens, prompts and replies together; 0: none [limits.tokens]");
  command.add_option("--max-dollars", options.max_dollars,
                     "limit on US dollars; 0: none [limits.dollars]");
  command.add_option("--max-time", options.max_time,
                     "limit on wall time: seconds, or 90s, 10m, 1.5h; 0: none [limits.wall_time]");
  command
      .add_option("--set", options.set,
                  "any key of the config, for instance --set run.proposals=3; may be repeated")
      ->type_name("SECTION.KEY=VALUE")
      ->allow_extra_args(false);
}

std::vector<ConfigOverride> overrides_of(const RunOptions& options) {
  std::vector<ConfigOverride> overrides;
  add_override(overrides, "limits.calls", options.max_calls);
  add_override(overrides, "limits.tokens", options.max_tokens);
  add_override(overrides, "limits.dollars", options.max_dollars);
  add_override(overrides, "limits.wall_time", options.max_time);
  for (const std::string& text : options.set) {
    overrides.push_back(parse_override(text));
  }
  return overrides;
}

void add_override(std::vector<ConfigOverride>& overrides, const std::string& key,
                  const std::string& value) {
  if (!value.empty()) {
    overrides.push_back({key, value});
  }
}

} // namespace winnow::harness
