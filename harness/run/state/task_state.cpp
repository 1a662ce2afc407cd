#include "harness/run/state/task_state.h"

#include "agents/prompts/missions.h"
#include "evaluators/evaluation/blank_evaluation.h"
#include "harness/config/model_arms.h"

namespace winnow::harness {
namespace {

// A search stops when the best kernel reaches this share of the speed of light at every search
// shape.
constexpr double kEnoughSpeedOfLight = 0.95;
// The tuning of a candidate begins no further rung after so many seconds of the device.
constexpr double kTuningSeconds = 20;

std::vector<search::Mission> all_missions() {
  std::vector<search::Mission> all;
  for (const agents::Mission& mission : agents::missions()) {
    all.push_back({std::string(mission.name), std::string(mission.limiter), mission.for_seeds,
                   std::string(mission.mark)});
  }
  return all;
}

} // namespace

search::Settings search_settings(const RunConfig& config, const tasks::Task& task) {
  search::Settings settings;
  settings.task = task.name;
  settings.has_baseline = !task.baseline.empty();
  settings.proposals = static_cast<std::size_t>(config.proposals);
  settings.lineages = static_cast<std::size_t>(config.chains);
  settings.evaluator_version = evaluators::kEvaluatorVersion;
  if (config.missions) {
    settings.missions = all_missions();
  }
  for (const ModelArm& model : config.models) {
    if (!is_model_of_a_role(config, model.name)) {
      settings.models.push_back(model.name);
    }
  }
  settings.value_of_doubling = config.value_of_doubling;
  settings.seeds = static_cast<std::size_t>(config.seeds);
  settings.patience = static_cast<std::size_t>(config.patience);
  settings.enough_speed_of_light = kEnoughSpeedOfLight;
  settings.tuning_seconds = kTuningSeconds;
  settings.seed = static_cast<std::uint64_t>(config.search_seed);
  settings.roles = roles_of(config);
  settings.role_models = config.role_models;
  return settings;
}

void Speedups::set(store::RowId candidate, double speedup) {
  erase(candidate);
  by_candidate_[candidate] = speedup;
  sorted_.insert(speedup);
}

void Speedups::erase(store::RowId candidate) {
  if (const auto found = by_candidate_.find(candidate); found != by_candidate_.end()) {
    sorted_.erase(sorted_.find(found->second));
    by_candidate_.erase(found);
  }
}

double Speedups::best() const {
  return sorted_.empty() ? 0 : *sorted_.rbegin();
}

void commit(Journal& journal, TaskState& state,
            const std::function<std::vector<search::Event>()>& work) {
  std::vector<search::Event> events;
  journal.store().transaction([&] {
    events = work();
    for (const search::Event& event : events) {
      journal.log(state.row, event);
    }
  });
  for (const search::Event& event : events) {
    state.search->apply(event);
    if (const auto* added = std::get_if<search::Added>(&event)) {
      state.unscored.push_back(added->candidate);
    }
  }
}

} // namespace winnow::harness
