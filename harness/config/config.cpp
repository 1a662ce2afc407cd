#include "harness/config/config.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "harness/config/config_keys.h"
#include "harness/config/model_arms.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxConfigBytes = std::uint64_t{1} << 20U;

/// The paths of the TOML files in the folder, as the user would write them.
std::vector<std::string> configs_in(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, ignored)) {
    if (entry.path().extension() == ".toml") {
      files.push_back((folder / entry.path().filename()).string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The names of the configs that come with Winnow.
std::vector<std::string> shipped_configs() {
  std::vector<std::string> names;
  const auto folder = find_shipped("configs");
  for (const std::string& file : folder ? configs_in(*folder) : names) {
    if (const std::string name = fs::path(file).stem(); name != "prices") {
      names.push_back(name);
    }
  }
  return names;
}

} // namespace

ConfigOverride parse_override(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw UsageError("'" + std::string(text) + "' is not of the form section.key=value",
                     "write for instance --set run.proposals=3");
  }
  return {std::string(trim(text.substr(0, equals))), std::string(trim(text.substr(equals + 1)))};
}

RunConfig load_config(const fs::path& file, const std::vector<ConfigOverride>& overrides) {
  if (!fs::is_regular_file(file)) {
    std::vector<std::string> known = configs_in(file.parent_path());
    const std::vector<std::string> shipped = shipped_configs();
    known.insert(known.end(), shipped.begin(), shipped.end());
    throw UsageError(file.string() + ": no such config file" + suggestion(file.string(), known));
  }
  return parse_config(read_file(file, kMaxConfigBytes), file, overrides);
}

fs::path find_config(const std::string& given) {
  const std::string wanted = given.empty() ? "quickstart" : given;
  if (!given.empty() &&
      (is_file(given) || fs::path(given).has_parent_path() || fs::path(given).has_extension())) {
    return given;
  }
  const std::string file = "configs/" + wanted + ".toml";
  if (auto found = find_shipped(file)) {
    return *found;
  }
  throw UsageError(wanted + ": no such config file; looked for " + file + " " + shipped_places() +
                       suggestion(wanted, shipped_configs()),
                   "name a TOML file, or run in the source folder");
}

nlohmann::json config_to_json(const RunConfig& config) {
  nlohmann::json json = nlohmann::json::object();
  for (const ConfigKey& key : config_keys()) {
    json[key.section][key.name] = key.get(config);
  }
  if (!config.models.empty()) {
    json["models"] = models_to_json(config);
  }
  return json;
}

RunConfig config_from_json(const nlohmann::json& json) {
  RunConfig config;
  for (const ConfigKey& key : config_keys()) {
    const auto section = json.find(key.section);
    if (section == json.end() || !section->contains(key.name)) {
      continue; // an earlier version stored the run: use the default
    }
    try {
      key.set(config, section->at(key.name), {});
    } catch (const BadValue& error) {
      throw Error("stored configuration of the run: " + key.section + "." + key.name +
                  ": expected " + error.what());
    }
  }
  if (const auto models = json.find("models"); models != json.end()) {
    try {
      models_from_json(config, *models);
    } catch (const BadValue& error) {
      throw Error(std::string("stored configuration of the run: models: expected ") + error.what());
    }
  }
  return config;
}

} // namespace winnow::harness
