#pragma once

#include "agents/endpoint_config.h"
#include "evaluators/evaluation/evaluator.h"
#include "harness/run/budget.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// A run as configured. The keys, with their defaults and units, are in config_keys.cpp.
struct RunConfig {
  std::string name = "run";
  std::string store = "runs/winnow.db"; ///< relative to the working directory
  std::vector<std::string> tasks{"all"};
  std::string strategy = "one-plus-one";
  std::int64_t proposals = 6; ///< per task
  std::int64_t chains = 1;
  std::int64_t max_variants = 8;
  std::int64_t finalists = 8; ///< of each board, timed against each other when the run ends
  Limits limits;
  agents::EndpointConfig endpoint;
  evaluators::EvaluationOptions evaluation;
  std::string prompts; ///< directory of templates; empty: the built-in ones
};

/// One "section.key=value" from the command line. The value is written as in TOML; a bare word is
/// taken as a string.
struct ConfigOverride {
  std::string key;
  std::string value;
  std::string option = {}; ///< "--max-calls", where an option of that name gave it
};
/// Throws UsageError when there is no '='.
ConfigOverride parse_override(std::string_view text);

/// Reads and checks a TOML file and the overrides. Throws UsageError with every mistake as
/// file:line:column: what; expected ... (unknown keys with the nearest match).
/// Files and directories that are read: relative to the working directory if they exist there, else
/// to the config file. Places that are written: relative to the working directory.
RunConfig load_config(const std::filesystem::path& file,
                      const std::vector<ConfigOverride>& overrides);
/// The same from text; `file` names it in messages and places relative paths.
RunConfig parse_config(std::string_view text, const std::filesystem::path& file,
                       const std::vector<ConfigOverride>& overrides);
void apply_overrides(RunConfig& config, const std::vector<ConfigOverride>& overrides);

/// The path given, or configs/quickstart.toml found from the working directory or the program's own
/// path upwards. Throws UsageError saying where it looked.
std::filesystem::path find_config(const std::string& given);

/// Every key as stored with a run; no secret is ever in a config. The inverse throws Error.
nlohmann::json config_to_json(const RunConfig& config);
RunConfig config_from_json(const nlohmann::json& json);

} // namespace winnow::harness
