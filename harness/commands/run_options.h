#pragma once

#include "harness/config.h"

#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace winnow::harness {

/// What `run` and `resume` have in common: limits and --set. Empty: as configured.
struct RunOptions {
  std::string max_calls;
  std::string max_tokens;
  std::string max_dollars;
  std::string max_time;
  std::vector<std::string> set;
};

void add_run_options(CLI::App& command, RunOptions& options);
/// --set comes last, so it wins over the flags. Throws UsageError for one without '='.
std::vector<ConfigOverride> overrides_of(const RunOptions& options);
/// Unless the value is empty.
void add_override(std::vector<ConfigOverride>& overrides, const std::string& key,
                  const std::string& value);

} // namespace winnow::harness
