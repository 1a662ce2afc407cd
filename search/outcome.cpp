#include "search/outcome.h"

#include "tasks/plan/kernel_file.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace winnow::search {
namespace {

/// Without a known interval, the speedup itself stands for both ends.
double low(const Outcome& outcome) {
  return outcome.speedup_bounds.known() ? outcome.speedup_bounds.low : outcome.speedup;
}

double high(const Outcome& outcome) {
  return outcome.speedup_bounds.known() ? outcome.speedup_bounds.high : outcome.speedup;
}

bool raced(const Outcome& outcome, const Outcome* incumbent) {
  return outcome.race && incumbent != nullptr && outcome.race->incumbent == incumbent->kernel;
}

} // namespace

std::vector<double> ratios_to_incumbent(const tasks::CaseResult& timed) {
  std::vector<double> ratios;
  const auto pairs = std::min(timed.samples_ns.size(), timed.incumbent_samples_ns.size());
  for (std::size_t i = 0; i < pairs; ++i) {
    ratios.push_back(timed.incumbent_samples_ns[i] / timed.samples_ns[i]);
  }
  return ratios;
}

Trial trial_of(const tasks::Evaluation& evaluation) {
  Trial trial{evaluation.parameters, evaluation.verdict, evaluation.build.machine_code_digest, {}};
  for (const tasks::CaseResult& timed : evaluation.cases) {
    trial.speeds.push_back(tasks::median(ratios_to_incumbent(timed)));
  }
  return trial;
}

Outcome outcome_of(const tasks::Evaluation& evaluation, std::string_view text) {
  Outcome outcome;
  outcome.verdict = evaluation.verdict;
  outcome.evaluator_version = evaluation.evaluator_version;
  outcome.kernel = tasks::kernel_digest(text, evaluation.parameters);
  outcome.speedup = evaluation.speedup;
  outcome.speedup_bounds = evaluation.speedup_bounds;
  outcome.hidden_speedup = evaluation.hidden_speedup;
  outcome.promoted = evaluation.promoted;
  if (evaluation.race) {
    outcome.race = {evaluation.race->rival, evaluation.race->verdict == "faster",
                    evaluation.hidden_race_ratio};
  }
  outcome.speed_of_light = least_speed_of_light(evaluation);
  outcome.cell = cell_of(evaluation);
  outcome.device_seconds = evaluation.seconds;
  return outcome;
}

bool is_contender(const Outcome& outcome, int evaluator_version) {
  return outcome.verdict == tasks::Verdict::Correct && outcome.promoted &&
         outcome.evaluator_version == evaluator_version;
}

bool beats(const Outcome& outcome, const Outcome* incumbent) {
  if (raced(outcome, incumbent)) {
    return outcome.race->faster;
  }
  return low(outcome) > (incumbent != nullptr ? high(*incumbent) : 1);
}

bool is_better(const Outcome& choice, const Outcome& of_default) {
  return choice.verdict == tasks::Verdict::Correct && (choice.promoted || !of_default.promoted) &&
         choice.speedup > of_default.speedup;
}

bool may_lead(const Outcome& outcome, const Outcome* incumbent) {
  if (outcome.verdict != tasks::Verdict::Correct) {
    return false;
  }
  if (raced(outcome, incumbent) && outcome.race->hidden_ratio > 0) {
    return outcome.race->hidden_ratio >= kHiddenSpeedShare;
  }
  const double to_match = incumbent != nullptr ? incumbent->hidden_speedup : 1;
  const bool both_timed = outcome.hidden_speedup > 0 && to_match > 0;
  return !both_timed || outcome.hidden_speedup >= kHiddenSpeedShare * to_match;
}

void to_json(nlohmann::json& json, const Outcome& outcome) {
  json = {{"verdict", to_string(outcome.verdict)},
          {"evaluator_version", outcome.evaluator_version},
          {"kernel", outcome.kernel},
          {"speedup", outcome.speedup},
          {"speedup_low", outcome.speedup_bounds.low},
          {"speedup_high", outcome.speedup_bounds.high},
          {"hidden_speedup", outcome.hidden_speedup},
          {"promoted", outcome.promoted},
          {"speed_of_light", outcome.speed_of_light},
          {"cell", outcome.cell},
          {"device_seconds", outcome.device_seconds}};
  if (outcome.race) {
    json["race"] = {{"incumbent", outcome.race->incumbent},
                    {"faster", outcome.race->faster},
                    {"hidden_ratio", outcome.race->hidden_ratio}};
  }
}

void from_json(const nlohmann::json& json, Outcome& outcome) {
  const auto& verdict = json.at("verdict").get_ref<const std::string&>();
  outcome.verdict = tasks::verdict_from_string(verdict).value();
  json.at("evaluator_version").get_to(outcome.evaluator_version);
  json.at("kernel").get_to(outcome.kernel);
  json.at("speedup").get_to(outcome.speedup);
  json.at("speedup_low").get_to(outcome.speedup_bounds.low);
  json.at("speedup_high").get_to(outcome.speedup_bounds.high);
  json.at("hidden_speedup").get_to(outcome.hidden_speedup);
  json.at("promoted").get_to(outcome.promoted);
  json.at("speed_of_light").get_to(outcome.speed_of_light);
  json.at("cell").get_to(outcome.cell);
  json.at("device_seconds").get_to(outcome.device_seconds);
  outcome.race.reset();
  if (const auto race = json.find("race"); race != json.end()) {
    outcome.race = {race->at("incumbent"), race->at("faster"), race->at("hidden_ratio")};
  }
}

} // namespace winnow::search
