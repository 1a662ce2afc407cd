#include "harness/config/model_arms.h"

#include "base/error.h"
#include "harness/config/config_keys.h"
#include "search/policy.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

/// The provider decides about the kind, the URL and the key. So a table that names another provider
/// or kind does not inherit what [endpoint] says for its own provider.
agents::EndpointConfig inherited(const agents::EndpointConfig& endpoint, const json& table) {
  agents::EndpointConfig base = endpoint;
  if (table.contains("provider")) {
    const agents::EndpointConfig usual;
    base.kind = usual.kind;
    base.base_url = usual.base_url;
    base.api_key_env = usual.api_key_env;
    base.api_key_cmd = usual.api_key_cmd;
    base.api_key_file = usual.api_key_file;
  } else if (table.contains("kind")) {
    base.provider.clear();
  }
  return base;
}

agents::EndpointConfig endpoint_of(const RunConfig& config, const ModelArm& model) {
  const json table = json::parse(model.table);
  RunConfig resolved;
  resolved.endpoint = inherited(config.endpoint, table);
  for (const auto& [name, value] : table.items()) {
    const ConfigKey* key = find_config_key("endpoint", name);
    if (key == nullptr) { // another version of Winnow has stored the table
      throw BadValue(fmt::format("no key '{}' in [[models]]", name));
    }
    key->set(resolved, value, {});
  }
  return resolved.endpoint;
}

std::string usual_name(const agents::EndpointConfig& endpoint) {
  return endpoint.model.empty() ? endpoint.kind : endpoint.model;
}

/// Models of the same name on several levels of effort are told apart by the effort.
void name_models(std::vector<ModelArm>& models) {
  const auto shares_name = [&](const ModelArm& model) {
    return std::any_of(models.begin(), models.end(), [&](const ModelArm& other) {
      const std::string name = other.name.empty() ? usual_name(other.endpoint) : other.name;
      return &other != &model && name == usual_name(model.endpoint);
    });
  };
  std::vector<std::string> names;
  for (const ModelArm& model : models) {
    const std::string& effort = model.endpoint.effort;
    const std::string usual = usual_name(model.endpoint);
    names.push_back(!model.name.empty()                     ? model.name
                    : shares_name(model) && !effort.empty() ? fmt::format("{} {}", usual, effort)
                                                            : usual);
  }
  for (std::size_t i = 0; i < models.size(); ++i) {
    models[i].name = names[i];
  }
}

} // namespace

std::vector<ModelArm> models_of(const RunConfig& config) {
  if (config.models.empty()) {
    return {ModelArm{"", config.endpoint, "{}", ""}};
  }
  std::vector<ModelArm> models = config.models;
  std::stable_partition(models.begin(), models.end(), [&](const ModelArm& model) {
    return !is_model_of_a_role(config, model.name);
  });
  return models;
}

std::vector<std::string> model_key_names() {
  std::vector<std::string> names = config_key_names("endpoint");
  names.emplace_back("name");
  return names;
}

void resolve_models(RunConfig& config) {
  for (ModelArm& model : config.models) {
    model.endpoint = endpoint_of(config, model);
  }
  name_models(config.models);
  for (auto model = config.models.begin(); model != config.models.end(); ++model) {
    const auto twin = std::find_if(config.models.begin(), model, [&](const ModelArm& other) {
      return other.name == model->name;
    });
    if (twin != model) {
      throw UsageError(
          fmt::format("{}: two tables of [[models]] have the name '{}'{}", model->where,
                      model->name,
                      twin->where.empty() ? "" : "; the other one is at " + twin->where),
          "give each table a `name` of its own");
    }
  }
}

json models_to_json(const RunConfig& config) {
  json tables = json::array();
  for (const ModelArm& model : config.models) {
    json& table = tables.emplace_back(json::parse(model.table));
    table["name"] = model.name;
  }
  return tables;
}

void models_from_json(RunConfig& config, const json& tables) {
  for (json table : tables) {
    ModelArm& model = config.models.emplace_back();
    model.name = table.at("name");
    table.erase("name");
    model.table = table.dump();
  }
  resolve_models(config);
}

std::vector<std::string> roles_of(const RunConfig& config) {
  return config.roles ? *config.roles : search::preset(config.strategy).roles;
}

bool is_model_of_a_role(const RunConfig& config, const std::string& model) {
  return std::any_of(config.role_models.begin(), config.role_models.end(),
                     [&](const auto& entry) { return entry.second == model; });
}

std::string in_words(const ModelArm& model) {
  return model.name.empty() ? "" : fmt::format(" (model '{}' of [[models]])", model.name);
}

} // namespace winnow::harness
