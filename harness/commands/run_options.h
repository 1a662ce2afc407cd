#pragma once

#include "harness/commands/commands.h"
#include "harness/config/config.h"
#include "harness/run/store_trust.h"

#include <string>
#include <vector>

namespace winnow::harness {

/// Options of the command line that set keys of the config. Empty: as configured.
struct RunOptions {
  std::string model; ///< "PROVIDER/MODEL", or "replay:FILE"
  std::vector<ConfigOverride> keys;
  std::vector<std::string> set;
};

/// The help of --model.
inline constexpr const char* kModelHelp =
    "provider and model, for instance openai/gpt-5 or ollama/qwen3 (`winnow models list`); or "
    "replay:FILE, a recording, whose replies do not depend on prompts [endpoint.provider, "
    "endpoint.model]";

/// Adds --model and --set.
void add_endpoint_options(CLI::App& command, RunOptions& options);
/// Adds these and the limits: the options that `run` and `resume` share.
void add_run_options(CLI::App& command, RunOptions& options);

/// The options of a new run.
struct NewRunOptions {
  std::string config; ///< empty: configs/quickstart.toml
  std::string store;
  RunOptions shared;

  bool names_run() const; ///< --name is given
};

/// Adds all of them except CONFIG and --store.
void add_new_run_options(CLI::App& command, NewRunOptions& options);
/// The config file with the options applied. Throws UsageError.
RunConfig configured(const NewRunOptions& options);

/// --trust-store and --config, for a run that is in a store already.
struct TrustOptions {
  bool trust_store = false;
  std::string config;
};
void add_trust_options(CLI::App& command, TrustOptions& options);
StoreTrust trust_of(const TrustOptions& options);

/// --set comes last, so it takes precedence over the other options. Throws UsageError if '=' is
/// missing.
std::vector<ConfigOverride> overrides_of(const RunOptions& options);

/// Says on stderr which prompt templates of the user's own a run takes, if any, and whether a
/// recording ignores them.
void tell_own_templates(const RunConfig& config);

} // namespace winnow::harness
