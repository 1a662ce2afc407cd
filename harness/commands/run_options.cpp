#include "harness/commands/run_options.h"

#include "agents/endpoints/providers.h"
#include "agents/prompts/prompts.h"
#include "harness/config/config_keys.h"
#include "harness/config/model_arms.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

constexpr std::string_view kReplay = "replay:";

/// Adds the option of a key, with the help text of the table of keys. An empty value sets nothing.
void add_key_option(CLI::App& command, const ConfigKey& key, RunOptions& options) {
  const nlohmann::json usual = key.get(RunConfig{});
  ConfigOverride item{key.section + "." + key.name, "", key.option, usual.is_string()};
  const std::string help = key.help + " [" + item.key + "]";
  const auto put = [item, &options](const std::string& value) {
    if (!value.empty()) {
      options.keys.push_back({item.key, value, item.option, item.is_text});
    }
  };
  if (usual.is_array()) {
    const std::function<void(const std::vector<std::string>&)> put_list =
        [put](const std::vector<std::string>& items) { put(nlohmann::json(items).dump()); };
    command.add_option_function(key.option, put_list, help);
  } else {
    command.add_option_function<std::string>(key.option, put, help);
  }
}

/// Adds the options of the keys in these sections, in the order of the table.
void add_key_options(CLI::App& command, const std::vector<std::string>& sections,
                     RunOptions& options) {
  for (const std::string& section : sections) {
    for (const ConfigKey& key : config_keys()) {
      if (key.section == section && !key.option.empty()) {
        add_key_option(command, key, options);
      }
    }
  }
}

/// The keys of [endpoint] that --model sets, and those of another provider that it clears.
std::vector<std::pair<std::string, std::string>> endpoint_of(const std::string& given) {
  if (given.empty()) {
    return {};
  }
  if (given.starts_with(kReplay)) {
    const std::filesystem::path file = given.substr(kReplay.size());
    return {{"kind", "replay"},
            {"file", file.string()},
            {"provider", ""},
            {"model", file.stem().string()}};
  }
  const auto [provider, model] = agents::parse_provider_model(given);
  return {{"provider", provider},
          {"kind", agents::find_provider(provider)->kind},
          {"model", model},
          {"base_url", ""},
          {"api_key_env", ""}};
}

} // namespace

void add_endpoint_options(CLI::App& command, RunOptions& options) {
  command.add_option("--model", options.model, kModelHelp)->type_name("PROVIDER/MODEL");
  command
      .add_option("--set", options.set,
                  "any key of the config, for instance --set run.proposals=3; may be repeated")
      ->type_name("SECTION.KEY=VALUE");
}

void add_run_options(CLI::App& command, RunOptions& options) {
  add_endpoint_options(command, options);
  add_key_options(command, {"limits", "broker"}, options);
}

void add_trust_options(CLI::App& command, TrustOptions& options) {
  CLI::Option* trust = command.add_flag(
      "--trust-store", options.trust_store,
      "obey the endpoints, keys, commands and paths that the store's configuration names, although "
      "you have not stored the run on this machine");
  command
      .add_option("--config", options.config,
                  "TOML file of your own: its endpoints, keys, commands and paths replace those of "
                  "the store's configuration")
      ->excludes(trust);
}

StoreTrust trust_of(const TrustOptions& options) {
  StoreTrust trust{options.trust_store, {}};
  if (!options.config.empty()) {
    trust.own = load_config(find_config(options.config), {});
  }
  return trust;
}

std::vector<ConfigOverride> overrides_of(const RunOptions& options) {
  std::vector<ConfigOverride> overrides = options.keys;
  for (const auto& [name, value] : endpoint_of(options.model)) {
    overrides.push_back({"endpoint." + name, value, "--model", true});
  }
  for (const std::string& text : options.set) {
    overrides.push_back(parse_override(text));
  }
  return overrides;
}

bool NewRunOptions::names_run() const {
  return std::any_of(shared.keys.begin(), shared.keys.end(),
                     [](const ConfigOverride& item) { return item.key == "run.name"; });
}

void add_new_run_options(CLI::App& command, NewRunOptions& options) {
  add_key_options(command, {"run", "evaluation"}, options.shared);
  add_run_options(command, options.shared);
}

RunConfig configured(const NewRunOptions& options) {
  std::vector<ConfigOverride> overrides = overrides_of(options.shared);
  if (!options.store.empty()) {
    overrides.insert(overrides.begin(), {"run.store", options.store, "--store", true});
  }
  return load_config(find_config(options.config), overrides);
}

void tell_own_templates(const RunConfig& config) {
  if (const std::string own = agents::own_templates_text(config.prompts); !own.empty()) {
    const std::vector<ModelArm> models = models_of(config);
    const bool is_replay = std::all_of(models.begin(), models.end(), [](const ModelArm& model) {
      return model.endpoint.kind == "replay";
    });
    std::cerr << own
              << (is_replay ? "; the replies are recorded, and do not depend on prompts" : "")
              << '\n';
  }
}

} // namespace winnow::harness
