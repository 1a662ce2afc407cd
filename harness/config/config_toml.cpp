#include "agents/keys/secret_shapes.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/text/toml_reader.h"
#include "harness/config/config.h"
#include "harness/config/config_keys.h"
#include "harness/config/model_arms.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr const char* kKeysBelongElsewhere =
    "a config must not hold a key; put the key into an environment variable and set "
    "endpoint.api_key_env to the name of the variable";

std::vector<std::string> full_key_names() {
  std::vector<std::string> names;
  for (const ConfigKey& key : config_keys()) {
    names.push_back(key.section + "." + key.name);
  }
  return names;
}

/// Walks through a parsed file, applies its keys and collects every mistake.
class Reader {
public:
  Reader(RunConfig& config, std::filesystem::path file) : config_(config), file_(std::move(file)) {}

  void read(const TomlReader& root) {
    auto sections = config_sections();
    sections.emplace_back("models");
    for (const auto& [section, at, value] : root.members()) {
      if (section == "models") {
        read_models(value);
      } else if (std::find(sections.begin(), sections.end(), section) == sections.end()) {
        mistake(at, is_section(value)
                        ? "unknown section [" + section + "]" + suggestion(section, sections)
                        : "the key '" + section + "' stands in no section" +
                              suggestion(section, full_key_names()));
      } else if (value.is_table()) {
        read_section(section, value);
      } else {
        mistake(value.at(), fmt::format("'{0}' is not a section; expected [{0}]", section));
      }
    }
    if (!mistakes_.empty()) {
      throw UsageError(join(mistakes_, "\n"));
    }
  }

private:
  /// [name] or [[name]].
  static bool is_section(const TomlReader& value) {
    const std::vector<TomlReader> items = value.items();
    return value.is_table() || (!items.empty() && items.front().is_table());
  }

  void read_section(const std::string& section, const TomlReader& table) {
    for (const auto& [name, at, value] : table.members()) {
      const ConfigKey* key = find_config_key(section, name);
      if (key == nullptr && agents::names_secret(name)) {
        mistake(at, fmt::format("{}.{}: {}", section, name, kKeysBelongElsewhere));
      } else if (key == nullptr) {
        mistake(at, fmt::format("unknown key '{}' in [{}]{}", name, section,
                                suggestion(name, config_key_names(section))));
      } else {
        apply(*key, value);
      }
    }
  }

  void apply(const ConfigKey& key, const TomlReader& value) {
    apply(key, value, config_, key.section);
  }

  /// False: the value is a mistake.
  bool apply(const ConfigKey& key, const TomlReader& value, RunConfig& config,
             const std::string& section) {
    try {
      const json plain = value.json();
      if (plain.is_null()) { // a date
        throw BadValue("a plain value");
      }
      key.set(config, plain, file_.parent_path());
      return true;
    } catch (const BadValue& error) {
      mistake(value.at(), section + "." + key.name + ": expected " + error.what());
      return false;
    }
  }

  void read_models(const TomlReader& value) {
    const std::vector<TomlReader> tables = value.items();
    if (tables.empty() || !std::all_of(tables.begin(), tables.end(),
                                       [](const TomlReader& item) { return item.is_table(); })) {
      mistake(value.at(), "'models' is not a list of tables; expected [[models]]");
      return;
    }
    for (const TomlReader& table : tables) {
      read_model(table);
    }
  }

  void read_model(const TomlReader& table) {
    if (table.members().empty()) {
      mistake(table.at(),
              "this table of [[models]] is empty; expected at least one key of [endpoint]");
    }
    ModelArm model;
    model.where = table.place();
    json named = json::object();
    for (const auto& [name, at, value] : table.members()) {
      const ConfigKey* key = find_config_key("endpoint", name);
      RunConfig scratch;
      if (name == "name") {
        read_model_name(value, model);
      } else if (key == nullptr && agents::names_secret(name)) {
        mistake(at, fmt::format("models.{}: {}", name, kKeysBelongElsewhere));
      } else if (key == nullptr) {
        mistake(at, fmt::format("unknown key '{}' in [[models]]{}", name,
                                suggestion(name, model_key_names())));
      } else if (apply(*key, value, scratch, "models")) {
        named[name] = key->get(scratch);
      }
    }
    model.table = named.dump();
    config_.models.push_back(std::move(model));
  }

  void read_model_name(const TomlReader& value, ModelArm& model) {
    model.name = value.as<std::string>().value_or("");
    if (model.name.empty()) {
      mistake(value.at(), "models.name: expected a string that is not empty");
    }
  }

  void mistake(SourcePosition at, const std::string& what) {
    mistakes_.push_back(to_string(Diagnostic{file_.string(), at, what, {}}));
  }

  RunConfig& config_;
  std::filesystem::path file_;
  std::vector<std::string> mistakes_;
};

/// Parses a value as TOML. A bare word ("cpu", "10m") is a string.
json override_value(const std::string& text) {
  try {
    return TomlReader::parse("value = " + text, "--set").value("value", "a value").json();
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
    throw UsageError(agents::names_secret(name) ? item.key + ": " + kKeysBelongElsewhere
                                                : "unknown key '" + item.key + "'" +
                                                      suggestion(item.key, full_key_names()));
  }
  try {
    key->set(config, item.is_text ? json(item.value) : override_value(item.value), {});
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
  Reader(config, file).read(TomlReader::parse(text, file.string()));
  apply_overrides(config, overrides);
  return config;
}

void apply_overrides(RunConfig& config, const std::vector<ConfigOverride>& overrides) {
  for (const ConfigOverride& item : overrides) {
    if (item.option == "--model" && !config.models.empty()) {
      throw UsageError("--model names one model, but the config has several in [[models]]",
                       "leave --model out, or take a config without [[models]]");
    }
    apply_override(config, item);
  }
  resolve_models(config);
  check_config(config);
}

} // namespace winnow::harness
