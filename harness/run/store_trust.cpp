#include "harness/run/store_trust.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/json_dump.h"
#include "base/secrets.h"
#include "base/text.h"
#include "harness/config/config_keys.h"
#include "harness/config/model_arms.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace winnow::harness {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kSeal = "seal";
constexpr std::size_t kMostShownBytes = 200;

/// Empty if this user has no secret.
std::string seal_of(json config) {
  config.erase(kSeal);
  return user_seal("run configuration", json_line(config));
}

bool is_own_file(const fs::path& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && status.st_uid == geteuid();
}

bool is_folder_of_task(const std::string& task) {
  return task.find('/') != std::string::npos;
}

/// What the key's value names outside of the run; null: nothing.
json reaching_value(const ConfigKey& key, const RunConfig& config) {
  json value = key.get(config);
  if (key.section == "run" && key.name == "store") {
    return nullptr; // the command names the store
  }
  if (key.section == "run" && key.name == "tasks") {
    json folders = json::array();
    std::copy_if(value.begin(), value.end(), std::back_inserter(folders),
                 [](const json& task) { return is_folder_of_task(task.get<std::string>()); });
    return folders.empty() ? json() : folders;
  }
  return key.reach == Reach::Nothing || value == key.get(RunConfig{}) ? json() : value;
}

std::string paragraph(const char* title, const std::string& lines) {
  return lines.empty() ? "" : fmt::format("{}:{}\n", title, lines);
}

std::string line_of(const std::string& name, const json& value) {
  return fmt::format("\n  {} = {}", name, shortened(visible(json_line(value)), kMostShownBytes));
}

/// A line for each value in the tables of [[models]]. No override changes these.
std::string reaching_values_of_models(const RunConfig& config) {
  std::string lines;
  for (const ModelArm& model : config.models) {
    const json table = json::parse(model.table);
    for (const auto& [name, value] : table.items()) {
      const ConfigKey* key = find_config_key("endpoint", name);
      if (key != nullptr && key->reach != Reach::Nothing) {
        lines += line_of(fmt::format("models '{}' {}", visible(model.name), name), value);
      }
    }
  }
  return lines;
}

} // namespace

json sealed_config(json config) {
  config[kSeal] = seal_of(config);
  return config;
}

bool is_own_config(const json& stored, const fs::path& store) {
  const auto seal = stored.find(kSeal);
  if (seal == stored.end() || !seal->is_string() || !is_own_file(store)) {
    return false;
  }
  const std::string right = seal_of(stored);
  return !right.empty() && *seal == right;
}

bool may_change_on_resume(const std::string& key) {
  return key.starts_with("limits.") || key.starts_with("endpoint.") || key.starts_with("broker.") ||
         key == "run.parallel" || key == "evaluation.require_isolation";
}

std::string take_values_of(const RunConfig& own, RunConfig& config) {
  const bool has_folders = std::any_of(config.tasks.begin(), config.tasks.end(), is_folder_of_task);
  std::string taken, kept;
  for (const ConfigKey& key : config_keys()) {
    const std::string name = key.section + "." + key.name;
    const json stored = key.get(config), given = key.get(own);
    if (given == stored || name == "run.store" || name == "run.name") { // the command names both
      continue;
    }
    const bool is_set = given != key.get(RunConfig{});
    const bool reaches = name == "run.tasks" ? has_folders : key.reach != Reach::Nothing;
    if (reaches || (is_set && may_change_on_resume(name))) {
      key.set(config, given, {});
      taken += line_of(name, given);
    } else if (is_set) {
      kept += line_of(name, stored);
    }
  }
  if (const json models = models_to_json(own); models != models_to_json(config)) {
    taken += line_of("models", models);
  }
  config.models = own.models;
  return paragraph("--config: values that the run did not have", taken) +
         paragraph("--config: other values than these, which a resumed run keeps", kept);
}

void refuse_reaching_values(const RunConfig& stored, const std::vector<ConfigOverride>& overrides,
                            std::string_view run, const fs::path& store) {
  std::string lines;
  for (const ConfigKey& key : config_keys()) {
    const std::string name = key.section + "." + key.name;
    const bool is_replaced = std::any_of(overrides.begin(), overrides.end(),
                                         [&](const auto& item) { return item.key == name; });
    if (const json value = reaching_value(key, stored); !is_replaced && !value.is_null()) {
      lines += line_of(name, value);
    }
  }
  lines += reaching_values_of_models(stored);
  if (!lines.empty()) {
    throw UsageError(
        fmt::format(
            "you have not stored run '{}' of {} on this machine, so Winnow sends no key and "
            "runs no command that its configuration names. It names:{}",
            visible(run), store.string(), lines),
        "read these values. If you want all of them, add --trust-store; to take such values from a "
        "file of your own, add --config FILE");
  }
}

} // namespace winnow::harness
