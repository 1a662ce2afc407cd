#pragma once

#include "harness/config/config.h"

#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace winnow::harness {

/// The options that `run` and `resume` share: the model, the limits and --set. Empty: as
/// configured.
struct RunOptions {
  std::string model; ///< "PROVIDER/MODEL"
  std::string max_calls;
  std::string max_tokens;
  std::string max_dollars;
  std::string max_time;
  std::vector<std::string> set;
};

void add_run_options(CLI::App& command, RunOptions& options);
/// Adds only --model and --set.
void add_endpoint_options(CLI::App& command, RunOptions& options);

/// The options of a new run. Empty: as in the config file.
struct NewRunOptions {
  std::string config; ///< empty: configs/quickstart.toml
  std::string store;
  std::string name;
  std::string device;
  std::string isolation;
  std::string precheck;
  std::vector<std::string> tasks;
  RunOptions shared;
};

/// Adds all of them except CONFIG and --store.
void add_new_run_options(CLI::App& command, NewRunOptions& options);
/// The config file with the options applied. Throws UsageError.
RunConfig configured(const NewRunOptions& options);

/// --set comes last, so it takes precedence over the other options. Throws UsageError if '=' is
/// missing.
std::vector<ConfigOverride> overrides_of(const RunOptions& options);
/// Adds an override for a key, unless the value is empty.
void add_override(std::vector<ConfigOverride>& overrides, const std::string& key,
                  const std::string& value, const std::string& option);

} // namespace winnow::harness
