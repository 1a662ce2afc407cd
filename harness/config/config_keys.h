#pragma once

#include "harness/config/config.h"

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

/// One key of a run's configuration.
struct ConfigKey {
  std::string section;
  std::string name;
  /// Throws BadValue. Relative paths of files to read are also searched in `base`.
  std::function<void(RunConfig&, const nlohmann::json&, const std::filesystem::path& base)> set;
  std::function<nlohmann::json(const RunConfig&)> get;
  std::string option = {}; ///< of `run` and `resume`, which sets the key; empty: only --set does
  std::string help = {};   ///< of the option
};

const std::vector<ConfigKey>& config_keys();
const ConfigKey* find_config_key(const std::string& section, const std::string& name);
std::vector<std::string> config_sections();
std::vector<std::string> config_key_names(const std::string& section);

/// Whether a key's name suggests that its value is a secret. No config may contain one.
bool names_a_secret(const std::string& name);

/// Checks that concern several keys. Throws UsageError.
void check_config(const RunConfig& config);

} // namespace winnow::harness
