#pragma once

#include "agents/model/endpoint_config.h"
#include "harness/config/limits.h"
#include "harness/machine/judging_devices.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// A model that searches may ask: a table of [[models]].
struct ModelArm {
  std::string name;                ///< empty: the only model of a run without [[models]]
  agents::EndpointConfig endpoint; ///< [endpoint], with what the table names
  std::string table;               ///< what the table names: the text of a JSON object
  std::string where;               ///< FILE:LINE:COLUMN of the table; empty: it was stored
};

/// The configuration of a run. config_keys.cpp lists the keys with their defaults and units.
struct RunConfig {
  std::string name = "run";
  std::string store = "winnow.db"; ///< of a config file: its name, in the user's data directory
  std::vector<std::string> tasks{"all"};
  std::string strategy = "one-plus-one";
  std::int64_t proposals = 6; ///< per task
  std::int64_t chains = 1;
  std::int64_t seeds = 3;    ///< archive: first calls, for kernels of different structure
  std::int64_t patience = 0; ///< archive: stops after so many calls without a gain; 0: never
  /// archive: dollars that a kernel twice as fast is worth to the user; 0: prices stop nothing
  double value_of_doubling = 0;
  bool missions = true; ///< calls with the same words are told different directions
  /// When the search of a task has found enough, as parse_until() reads it; empty: it makes all
  /// its calls.
  std::string until;
  /// Kernel files, or @ID, that the search starts from beside the baseline.
  std::vector<std::string> seed_kernels;
  std::int64_t search_seed = 1; ///< of the lots that some strategies draw
  std::int64_t max_variants = 32;
  /// Per board; timed against each other when the run ends. 0: there is no final.
  std::int64_t finalists = 8;
  Limits limits;
  agents::EndpointConfig endpoint;
  std::vector<ModelArm> models; ///< empty: the model of `endpoint`
  /// Names of search::role_names(). nullopt: those of the strategy.
  std::optional<std::vector<std::string>> roles;
  /// By role: the model of `models` that the role asks. Such a model writes no kernels.
  std::map<std::string, std::string> role_models;
  evaluators::EvaluationOptions evaluation;
  BrokerOptions broker;
  std::string prompts; ///< directory of templates; empty: the built-in templates
};

/// One "section.key=value" from the command line. The value is written as in TOML; a bare word is a
/// string.
struct ConfigOverride {
  std::string key;
  std::string value;
  std::string option = {}; ///< "--max-calls", if an option of that name set the value
  bool is_text = false;    ///< the value is a string as it is
};
/// Throws UsageError if there is no '='.
ConfigOverride parse_override(std::string_view text);

/// Reads and checks a TOML file and the overrides. Throws UsageError that lists every mistake as
/// "file:line:column: mistake; expected ..."; an unknown key comes with the nearest known one.
/// Files and directories that are read are relative to the working directory if they exist there,
/// otherwise to the config file. Files that are written are relative to the working directory.
RunConfig load_config(const std::filesystem::path& file,
                      const std::vector<ConfigOverride>& overrides);
/// Like load_config(), from text. `file` names the text in messages and is the base of relative
/// paths.
RunConfig parse_config(std::string_view text, const std::filesystem::path& file,
                       const std::vector<ConfigOverride>& overrides);
void apply_overrides(RunConfig& config, const std::vector<ConfigOverride>& overrides);

/// The path given. A bare word that names no file is a config that comes with Winnow: "live" is
/// configs/live.toml; nothing is "quickstart". Throws UsageError saying where it looked.
std::filesystem::path find_config(const std::string& given);

/// All keys, as stored with a run. A config never contains a secret. The inverse throws Error.
nlohmann::json config_to_json(const RunConfig& config);
RunConfig config_from_json(const nlohmann::json& json);

} // namespace winnow::harness
