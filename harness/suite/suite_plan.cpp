#include "harness/suite/suite_plan.h"

#include "agents/record/recording.h"
#include "base/error.h"
#include "base/text.h"
#include "evaluators/evaluation/eager_times.h"
#include "evaluators/evaluation/open_devices.h"
#include "evaluators/host/devices.h"
#include "harness/config/model_arms.h"
#include "harness/report/counted.h"
#include "harness/run/endpoints.h"
#include "harness/run/session.h"
#include "profiling/statistics/order.h"

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

namespace {

constexpr const char* kName = "torch.compile";

std::vector<store::BaselineTiming> timings_of(evaluators::DeviceHost& host, const tasks::Task& task,
                                              const evaluators::Protocol& protocol) {
  std::vector<store::BaselineTiming> timings;
  for (evaluators::CompiledTimes& times : evaluators::compiled_times(host, task, protocol)) {
    store::BaselineTiming& timing = timings.emplace_back();
    timing.name = kName;
    timing.version = host.torch.version();
    timing.device = host.device.kind;
    timing.device_name = host.device.name;
    timing.shape_id = times.shape.id;
    timing.shape = to_string(times.shape);
    timing.times_ns = times.times_ns;
    timing.error = times.error;
    if (!times.times_ns.empty()) {
      timing.median_ns = profiling::median_of(times.times_ns);
    }
    std::cerr << task.name << ": " << timing.shape_id << ": torch.compile "
              << (timing.error.empty() ? "was timed" : "has no time: " + timing.error) << '\n';
  }
  return timings;
}

} // namespace

void store_compiled_times(const std::vector<tasks::SuiteTask>& suite, const RunConfig& config) {
  const auto host = evaluators::open_device(evaluators::select_device(config.evaluation.device),
                                            config.evaluation, config.evaluation.run_timeout);
  host->torch.start();
  if (!host->torch.no_compile().empty()) {
    throw Error(host->torch.no_compile(), "leave out --compiled, or use PyTorch 2");
  }
  store::RunStore store(config.store, store::RunStore::Mode::ReadWrite);
  for (const tasks::SuiteTask& one : suite) {
    if (one.task.torch) {
      store.add_baseline_timings(store.add_task(one.task),
                                 timings_of(*host, one.task, config.evaluation));
    }
  }
}

} // namespace winnow::harness
