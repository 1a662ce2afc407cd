#include "base/digest.h"
#include "base/text.h"
#include "harness/config/config_keys.h"
#include "harness/suite/suite_scores.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr std::size_t kStateDigits = 8;
constexpr std::size_t kMostLabelBytes = 60; ///< of a value in a label
constexpr const char* kPrompts = "prompts.directory";

/// The model and the strategy are in `base`. The others say where the run is and how fast it works.
const std::set<std::string> kLeftOut{"run.name",     "run.store",    "run.tasks",
                                     "run.parallel", "run.strategy", "endpoint.model"};

std::string last_name(const std::string& path) {
  const std::filesystem::path whole(path);
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

std::string plain_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// An address, a command or a header may hold a secret, and a path the name of a user.
std::string words_of(const ConfigKey& key, const std::string& name, const json& value) {
  switch (key.reach) {
  case Reach::Nothing:
    return name + "=" + shortened(plain_text(value), kMostLabelBytes);
  case Reach::Path:
    return name + "=" + (value.is_string() ? last_name(plain_text(value)) : "other files");
  case Reach::Endpoint:
  case Reach::Key:
  case Reach::Command:
    break;
  }
  return "other " + name;
}

/// "prompts mine/question_improve.md (3fa2b1c0)". The digest tells two states of a file apart.
RunSetting prompts_of(const std::string& directory, const json& files) {
  if (directory.empty()) {
    return {"", "built-in prompts"};
  }
  const std::string folder = "prompts " + last_name(directory) + "/";
  if (!files.is_object()) {
    return {directory, folder};
  }
  std::vector<std::string> names;
  for (const auto& [name, digest] : files.items()) {
    names.push_back(name);
  }
  const std::string state = files.dump();
  return {state, fmt::format("{}{} ({})", folder, join(names, "+"),
                             sha256_hex(state).substr(0, kStateDigits))};
}

/// The keys in which the runs differ.
std::set<std::string> different_keys(const std::vector<const ComparedRun*>& runs) {
  std::set<std::string> keys;
  for (const ComparedRun* run : runs) {
    for (const auto& [key, setting] : run->settings) {
      const auto& first = runs.front()->settings;
      const auto found = first.find(key);
      if (found == first.end() || found->second.value != setting.value) {
        keys.insert(key);
      }
    }
  }
  return keys;
}

std::vector<std::string> words_of(const ComparedRun& run, const std::set<std::string>& keys) {
  std::vector<std::string> words;
  for (const std::string& key : keys) {
    if (const auto found = run.settings.find(key); found != run.settings.end()) {
      words.push_back(found->second.words);
    }
  }
  return words;
}

} // namespace

RunSettings run_settings(const json& stored_config) {
  RunSettings settings;
  for (const ConfigKey& key : config_keys()) {
    const std::string name = key.section + "." + key.name;
    const json section = stored_config.value(key.section, json::object());
    if (key.section != "broker" && !kLeftOut.contains(name) && section.contains(key.name)) {
      const json& value = section.at(key.name);
      settings[name] = {value.dump(), words_of(key, name, value)};
    }
  }
  const json resolved = stored_config.value("resolved", json::object());
  if (const auto found = settings.find(kPrompts); found != settings.end()) {
    found->second = prompts_of(stored_config.at("prompts").at("directory").get<std::string>(),
                               resolved.value("prompts", json()));
  }
  if (const auto models = stored_config.find("models"); models != stored_config.end()) {
    settings["models"] = {models->dump(), "other [[models]]"};
  }
  if (resolved.contains("device_name")) {
    settings["run.device"] = {resolved["device_name"].dump(),
                              "on " + plain_text(resolved["device_name"])};
  }
  return settings;
}

std::vector<std::string> distinctions(const std::vector<ComparedRun>& runs) {
  std::map<std::string, std::vector<const ComparedRun*>> alike;
  for (const ComparedRun& run : runs) {
    alike[run.base].push_back(&run);
  }
  std::vector<std::string> texts;
  std::map<std::pair<std::string, std::string>, int> uses;
  for (const ComparedRun& run : runs) {
    std::set<std::string> keys = different_keys(alike[run.base]);
    if (const auto own = run.settings.find(kPrompts);
        own != run.settings.end() && !own->second.value.empty()) {
      keys.insert(kPrompts);
    }
    texts.push_back(join(words_of(run, keys), ", "));
    ++uses[{run.base, texts.back()}];
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (uses[{runs[i].base, texts[i]}] > 1) {
      texts[i] += (texts[i].empty() ? "run " : ", run ") + runs[i].name;
    }
  }
  return texts;
}

} // namespace winnow::harness
