#pragma once

#include "harness/config/config.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// A value of the wrong type or out of range. what() describes the expected value.
class BadValue : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// What a value can reach outside of the run. Such values are obeyed only if the user has chosen
/// them (run/store_trust.h).
enum class Reach : std::uint8_t {
  Nothing,  ///< a number, a switch, or a word that Winnow knows
  Endpoint, ///< where requests go and what they carry
  Key,      ///< where a secret is
  Command,  ///< what the shell runs
  Path,     ///< a file or folder
};

/// One key of a run's configuration.
struct ConfigKey {
  std::string section;
  std::string name;
  /// Throws BadValue. Relative paths of files to read are also searched in `base`.
  std::function<void(RunConfig&, const nlohmann::json&, const std::filesystem::path& base)> set;
  std::function<nlohmann::json(const RunConfig&)> get;
  Reach reach = Reach::Nothing;
  std::string option = {}; ///< of `run` and `resume`, which sets the key; empty: only --set does
  std::string help = {};   ///< of the option
};

const std::vector<ConfigKey>& config_keys();
const ConfigKey* find_config_key(const std::string& section, const std::string& name);
std::vector<std::string> config_sections();
std::vector<std::string> config_key_names(const std::string& section);

/// Checks that concern several keys. Throws UsageError.
void check_config(const RunConfig& config);

} // namespace winnow::harness
