#pragma once

#include "harness/config/config.h"

#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace winnow::harness {

/// What `run` and `resume` have in common: the model, limits and --set. Empty: as configured.
struct RunOptions {
  std::string model; ///< "PROVIDER/MODEL"
  std::string max_calls;
  std::string max_tokens;
  std::string max_dollars;
  std::string max_time;
  std::vector<std::string> set;
};

void add_run_options(CLI::App& command, RunOptions& options);
/// --model and --set only.
void add_endpoint_options(CLI::App& command, RunOptions& options);

/// What a new run is made of. Empty: as in the config file.
struct NewRunOptions {
  std::string config; ///< empty: the quickstart's
  std::string store;
  std::string name;
  std::string device;
  std::string isolation;
  std::string precheck;
  std::vector<std::string> tasks;
  RunOptions shared;
};

/// All of them but CONFIG and --store.
void add_new_run_options(CLI::App& command, NewRunOptions& options);
/// The config file with what the options say. Throws UsageError.
RunConfig configured(const NewRunOptions& options);

/// --set comes last, so it wins over the flags. Throws UsageError for one without '='.
std::vector<ConfigOverride> overrides_of(const RunOptions& options);
/// What an option says about a key, unless the value is empty.
void add_override(std::vector<ConfigOverride>& overrides, const std::string& key,
                  const std::string& value, const std::string& option);

} // namespace winnow::harness
