#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/toml.h"
#include "harness/config/config.h"
#include "harness/config/config_keys.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr const char* kKeysBelongElsewhere =
    "keys come from the environment; set endpoint.api_key_env to the variable's name";

/// Null for values that no key accepts: dates, and lists and tables that contain dates.
json to_json(const toml::node& node) {
  if (const auto* text = node.as_string()) {
    return text->get();
  }
  if (const auto* number = node.as_integer()) {
    return number->get();
  }
  if (const auto* number = node.as_floating_point()) {
    return number->get();
  }
  if (const auto* flag = node.as_boolean()) {
    return flag->get();
  }
  if (const auto* array = node.as_array()) {
    json list = json::array();
    for (const toml::node& item : *array) {
      list.push_back(to_json(item));
    }
    return list;
  }
  if (const auto* table = node.as_table()) {
    json object = json::object();
    for (const auto& [name, member] : *table) {
      object[std::string(name.str())] = to_json(member);
    }
    return object;
  }
  return nullptr;
}

/// Walks through a parsed file, applies its keys and collects every mistake.
class Reader {
public:
  Reader(RunConfig& config, std::filesystem::path file) : config_(config), file_(std::move(file)) {}

  void read(const toml::table& root) {
    for (const auto& [name, node] : root) {
      const std::string section(name.str());
      const auto sections = config_sections();
      if (std::find(sections.begin(), sections.end(), section) == sections.end()) {
        mistake(name.source(), "unknown section [" + section + "]" + suggestion(section, sections));
      } else if (const auto* table = node.as_table()) {
        read_section(section, *table);
      } else {
        mistake(node.source(), fmt::format("'{0}' is not a section; expected [{0}]", section));
      }
    }
    if (!mistakes_.empty()) {
      throw UsageError(join(mistakes_, "\n"));
    }
  }

private:
  void read_section(const std::string& section, const toml::table& table) {
    for (const auto& [key_name, node] : table) {
      const std::string name(key_name.str());
      const ConfigKey* key = find_config_key(section, name);
      if (key == nullptr && names_a_secret(name)) {
        mistake(key_name.source(), fmt::format("{}.{}: {}", section, name, kKeysBelongElsewhere));
      } else if (key == nullptr) {
        mistake(key_name.source(), fmt::format("unknown key '{}' in [{}]{}", name, section,
                                               suggestion(name, config_key_names(section))));
      } else {
        apply(*key, node);
      }
    }
  }

  void apply(const ConfigKey& key, const toml::node& node) {
    const json value = to_json(node);
    try {
      if (value.is_null()) {
        throw BadValue("a plain value");
      }
      key.set(config_, value, file_.parent_path());
    } catch (const BadValue& error) {
      mistake(node.source(), key.section + "." + key.name + ": expected " + error.what());
    }
  }

  void mistake(const toml::source_region& at, const std::string& what) {
    mistakes_.push_back(
        fmt::format("{}:{}:{}: {}", file_.string(), at.begin.line, at.begin.column, what));
  }

  RunConfig& config_;
  std::filesystem::path file_;
  std::vector<std::string> mistakes_;
};

/// Parses a value as TOML. A bare word ("cpu", "10m") is a string.
json override_value(const std::string& text) {
  try {
    const toml::table table = parse_toml("value = " + text, "--set");
    return to_json(*table.get("value"));
  } catch (const UsageError&) {
    return text;
  }
}

void apply_override(RunConfig& config, const ConfigOverride& item) {
  const std::size_t dot = item.key.find('.');
  const std::string section = item.key.substr(0, dot);
  const std::string name = dot == std::string::npos ? "" : item.key.substr(dot + 1);
  const ConfigKey* key = find_config_key(section, name);
  if (key == nullptr) {
    std::vector<std::string> known;
    for (const ConfigKey& candidate : config_keys()) {
      known.push_back(candidate.section + "." + candidate.name);
    }
    throw UsageError(names_a_secret(name)
                         ? item.key + ": " + kKeysBelongElsewhere
                         : "unknown key '" + item.key + "'" + suggestion(item.key, known));
  }
  try {
    key->set(config, override_value(item.value), {});
  } catch (const BadValue& error) {
    const std::string given = item.option.empty() ? item.key + "=" : item.option + " ";
    throw UsageError(given + item.value + ": expected " + error.what());
  }
}

} // namespace

RunConfig parse_config(std::string_view text, const std::filesystem::path& file,
                       const std::vector<ConfigOverride>& overrides) {
  RunConfig config;
  config.name = file.stem().string();
  config.store = (user_data_directory() / (config.name + ".db")).string();
  Reader(config, file).read(parse_toml(text, file.string()));
  apply_overrides(config, overrides);
  return config;
}

void apply_overrides(RunConfig& config, const std::vector<ConfigOverride>& overrides) {
  for (const ConfigOverride& item : overrides) {
    apply_override(config, item);
  }
  check_config(config);
}

} // namespace winnow::harness
