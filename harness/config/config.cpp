#include "harness/config/config.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "harness/config/config_keys.h"

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxConfigBytes = std::uint64_t{1} << 20U;
constexpr const char* kDefaultConfig = "configs/quickstart.toml";

} // namespace

ConfigOverride parse_override(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw UsageError("'" + std::string(text) + "' is not of the form section.key=value",
                     "for instance --set run.proposals=3");
  }
  return {std::string(trim(text.substr(0, equals))), std::string(trim(text.substr(equals + 1)))};
}

RunConfig load_config(const fs::path& file, const std::vector<ConfigOverride>& overrides) {
  if (!fs::is_regular_file(file)) {
    throw UsageError(file.string() + ": no such config file");
  }
  return parse_config(read_file(file, kMaxConfigBytes), file, overrides);
}

fs::path find_config(const std::string& given) {
  if (!given.empty()) {
    return given;
  }
  if (auto found = find_shipped_file(kDefaultConfig)) {
    return *found;
  }
  throw UsageError(std::string(kDefaultConfig) + " is neither in " + fs::current_path().string() +
                       " nor in " + executable_path().parent_path().string() + ", nor above them",
                   "name a config file: winnow run FILE");
}

nlohmann::json config_to_json(const RunConfig& config) {
  nlohmann::json json = nlohmann::json::object();
  for (const ConfigKey& key : config_keys()) {
    json[key.section][key.name] = key.get(config);
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
      throw Error("stored configuration: " + key.section + "." + key.name + ": expected " +
                  error.what());
    }
  }
  return config;
}

} // namespace winnow::harness
