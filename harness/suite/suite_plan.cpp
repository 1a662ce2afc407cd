#include "harness/suite/suite_plan.h"

#include "agents/record/recording.h"
#include "base/error.h"
#include "base/text.h"
#include "evaluators/torch/python.h"
#include "harness/baseline/torch_baseline.h"
#include "harness/config/model_arms.h"
#include "harness/report/counted.h"
#include "harness/run/endpoints.h"
#include "harness/run/session.h"

#include <algorithm>
#include <iostream>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using tasks::SuiteTask;

/// The settings of a run without those that may differ when the run goes on.
json lasting_settings(const RunConfig& config) {
  json settings = config_to_json(config);
  settings.erase("limits");
  settings.erase("broker");
  for (const char* key : {"name", "store", "tasks", "device", "parallel"}) {
    settings.at("run").erase(key);
  }
  return settings;
}

bool has_device(const RunConfig& stored, const RunConfig& config) {
  return config.evaluation.device == "best" || config.evaluation.device == stored.evaluation.device;
}

/// A run may lack tasks that need PyTorch.
bool has_tasks(const json& stored, const std::vector<SuiteTask>& suite) {
  json digests = stored.value("resolved", json::object()).value("tasks", json::object());
  for (const SuiteTask& one : suite) {
    const auto found = digests.find(one.task.name);
    if (found == digests.end() ? !one.task.torch : *found != one.task.digest) {
      return false;
    }
    digests.erase(one.task.name);
  }
  return digests.empty();
}

bool began(const store::RunRow& run, const RunConfig& config, const std::vector<SuiteTask>& suite) {
  const json stored = json::parse(run.config);
  if (!is_of_search(stored) || !has_tasks(stored, suite) || !has_same_prompts(stored, config)) {
    return false;
  }
  try {
    const RunConfig begun = config_from_json(stored);
    return has_device(begun, config) && lasting_settings(begun) == lasting_settings(config);
  } catch (const Error&) { // another version of Winnow stored settings that this one refuses
    return false;
  }
}

} // namespace

std::string model_names(const RunConfig& config) {
  std::vector<std::string> names;
  for (const ModelArm& model : models_of(config)) {
    names.push_back(model.endpoint.model);
  }
  return join(names, ", ");
}

void check_distinct_runs(const std::vector<RunConfig>& runs) {
  std::set<std::pair<std::string, std::string>> known;
  for (const RunConfig& run : runs) {
    const std::string model = model_names(run);
    if (!known.emplace(model, run.strategy).second) {
      throw UsageError(
          fmt::format("two runs would have the model '{}' and the strategy '{}'",
                      to_valid_utf8(model), to_valid_utf8(run.strategy)),
          "name each --model and each --strategy once; the name of a recording is the name of its "
          "file without .jsonl, so rename one of two recordings with equal names");
    }
  }
}

std::string missing_replies(const RunConfig& config, const std::vector<SuiteTask>& suite) {
  std::vector<std::string> keys, missing;
  for (const ModelArm& model : models_of(config)) {
    if (model.endpoint.kind != "replay") {
      return {};
    }
    for (const agents::RecordedCall& call : recorded_calls(model.endpoint)) {
      keys.push_back(call.key);
    }
  }
  for (const SuiteTask& one : suite) {
    if (std::none_of(keys.begin(), keys.end(), [&](const std::string& key) {
          return key.starts_with(one.task.name + "/");
        })) {
      missing.push_back(one.task.name);
    }
  }
  const std::string recording = "the recording '" + model_names(config) + "'";
  if (missing.size() == suite.size()) {
    throw UsageError(recording + " has no reply for any task of the suite: " + join(missing, ", "),
                     "name another recording, or another suite");
  }
  return missing.empty()
             ? ""
             : fmt::format("{} has no reply for {} of {} (they count as wrong): {}", recording,
                           missing.size(), counted(static_cast<std::int64_t>(suite.size()), "task"),
                           join(missing, ", "));
}

std::optional<store::RunRow> begun_run(const store::RunStore& store, const RunConfig& config,
                                       const std::vector<SuiteTask>& suite) {
  std::vector<store::RunRow> runs = store.runs();
  const auto found = std::find_if(runs.rbegin(), runs.rend(), [&](const store::RunRow& run) {
    return began(run, config, suite);
  });
  return found == runs.rend() ? std::nullopt : std::optional(std::move(*found));
}

void store_alternatives(const std::vector<tasks::SuiteTask>& suite, const RunConfig& config) {
  TorchBaselineOptions options;
  options.evaluation = config.evaluation;
  options.python = evaluators::find_python(evaluators::default_python());
  store::RunStore store(config.store, store::RunStore::Mode::ReadWrite);
  std::vector<tasks::Task> with_python;
  for (const tasks::SuiteTask& one : suite) {
    if (!one.task.reference_python.empty()) {
      with_python.push_back(one.task);
    }
  }
  for_each_torch_baseline(with_python, options,
                          [&](const tasks::Task& task, const TorchBaseline& baseline) {
                            store.add_baseline_timings(store.add_task(task), baseline.timings);
                          });
}

} // namespace winnow::harness
