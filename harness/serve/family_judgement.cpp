#include "harness/serve/family_judgement.h"

#include "base/error.h"
#include "search/outcome.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/tuning/parameter_choices.h"

#include <algorithm>
#include <utility>

namespace winnow::harness {
namespace {

using evaluators::EvaluationRequest;
using evaluators::EvaluationResult;
using tasks::Verdict;

constexpr double kMostTuningSeconds = 60; // of the device; `winnow tune` has the same default

/// The default first; none if there is nothing to tune.
std::vector<tasks::ParameterChoice> other_choices(const EvaluationRequest& request,
                                                  std::size_t most) {
  if (most < 2) {
    return {};
  }
  const tasks::KernelFileResult parsed = tasks::parse_kernel_file(request.text, request.file_name);
  try {
    return parsed.kernel_file ? tasks::parameter_choices(parsed.kernel_file->plan, most)
                              : std::vector<tasks::ParameterChoice>{};
  } catch (const tasks::ExpressionError&) { // the evaluation reports it
    return {};
  }
}

bool is_fault(const EvaluationResult& result) {
  return result.evaluations.empty() ||
         result.evaluations.front().verdict == Verdict::Infrastructure;
}

/// In full. Throws Error for a fault.
tasks::Evaluation evaluation_in(const EvaluationResult& result) {
  if (is_fault(result)) {
    throw Error(result.evaluations.empty() ? result.fault : result.evaluations.front().detail);
  }
  tasks::Evaluation evaluation = result.evaluations.front();
  evaluation.promoted = search::may_lead(search::outcome_of(evaluation, ""), nullptr);
  return evaluation;
}

/// A choice that has won no race may be faster by luck alone.
bool replaces(const tasks::Evaluation& winner, const tasks::Evaluation& of_default) {
  return winner.verdict == Verdict::Correct && winner.race && winner.race->verdict == "faster" &&
         (winner.promoted || !of_default.promoted);
}

} // namespace

FamilyJudgement::FamilyJudgement(EvaluationRequest request, std::size_t most_variants)
    : request_(std::move(request)), choices_(other_choices(request_, most_variants)) {}

EvaluationRequest FamilyJudgement::next() {
  EvaluationRequest request = request_;
  if (!tuning_) {
    return request;
  }
  request.incumbent = evaluators::KernelToBeat{request_.text, choices_.front()};
  if (const auto heat = tuning_->next()) {
    tuning_->begin(*heat);
    heat_ = heat;
    request.depth = evaluators::Depth::Trial;
    request.choices = heat->choices;
    request.turns = heat->turns;
  } else {
    request.choices = {tuning_->winner().value()};
  }
  return request;
}

bool FamilyJudgement::begin_tuning() {
  if (of_default_.verdict != Verdict::Correct || choices_.size() < 2) {
    return false;
  }
  tuning_.emplace(choices_, kMostTuningSeconds);
  return has_more();
}

void FamilyJudgement::take_heat(const EvaluationResult& result) {
  const search::Tuning::Heat heat = *std::exchange(heat_, {});
  if (is_fault(result)) {
    tuning_->fail(heat);
    return;
  }
  std::vector<search::Trial> trials;
  double device_seconds = 0;
  for (const tasks::Evaluation& trial : result.evaluations) {
    trials.push_back(search::trial_of(trial));
    device_seconds += trial.seconds;
  }
  tuning_->finish(trials, device_seconds);
  heats_.push_back({result.evaluations, result.id, heat.turns});
}

bool FamilyJudgement::has_more() {
  return !tuning_->is_over() || tuning_->winner().has_value();
}

bool FamilyJudgement::take(const EvaluationResult& result) {
  if (!tuning_) {
    of_default_ = evaluation_in(result);
    default_request_ = result.id;
    return begin_tuning();
  }
  if (heat_) {
    take_heat(result);
    return has_more();
  }
  finalists_.push_back({evaluation_in(result), result.id});
  const Verdict verdict = finalists_.back().evaluation.verdict;
  if (verdict == Verdict::Correct) {
    return false;
  }
  tuning_->reject_winner(verdict);
  return has_more();
}

bool FamilyJudgement::is_refused() const {
  return of_default_.verdict != Verdict::NotJudged && of_default_.stage <= tasks::Stage::Compile;
}

std::size_t FamilyJudgement::hidden_answers() const {
  const auto tells = [](const tasks::Evaluation& one) {
    return one.stage >= tasks::Stage::Promotion;
  };
  return static_cast<std::size_t>(
             std::count_if(finalists_.begin(), finalists_.end(),
                           [&](const Finalist& one) { return tells(one.evaluation); })) +
         (tells(of_default_) ? 1 : 0);
}

std::size_t FamilyJudgement::more_evaluations() const {
  std::size_t count = finalists_.size();
  for (const Heat& heat : heats_) {
    count += heat.trials.size();
  }
  return count;
}

void FamilyJudgement::write(store::RunStore& store, store::RowId candidate) const {
  if (store.candidate_state(candidate).best) {
    store.supersede_evaluation(candidate, of_default_, default_request_);
  } else {
    store.add_evaluations(candidate, {of_default_}, default_request_);
  }
  for (const Heat& heat : heats_) {
    store.add_trials(candidate, heat.trials, heat.request, heat.turns);
  }
  for (const auto& [evaluation, request] : finalists_) {
    if (replaces(evaluation, of_default_)) {
      store.supersede_evaluation(candidate, evaluation, request);
    } else {
      store.add_trials(candidate, {evaluation}, request, 0);
    }
  }
}

namespace {

search::Trial& trial_with(std::vector<search::Trial>& trials,
                          const tasks::ParameterChoice& choice) {
  const auto found = std::find_if(trials.begin(), trials.end(),
                                  [&](const auto& trial) { return trial.choice == choice; });
  return found == trials.end() ? trials.emplace_back(search::Trial{choice}) : *found;
}

} // namespace

TunedFamily tuned_family(const store::RunStore& store, store::RowId candidate) {
  TunedFamily family;
  const std::vector<tasks::Evaluation> heats = store.trials(candidate);
  for (const tasks::Evaluation& trial : heats) { // the last rung of a tuning comes last
    trial_with(family.trials, trial.parameters) = search::trial_of(trial);
    family.device_seconds += trial.seconds;
  }
  const std::vector<tasks::Evaluation> all = store.evaluations_in_full(candidate);
  if (all.empty()) {
    return family;
  }
  const tasks::ParameterChoice& of_default = all.front().parameters;
  for (const tasks::Evaluation& evaluation : all) {
    if (evaluation.parameters == of_default) {
      family.of_default = evaluation;
      continue;
    }
    family.of_winner = evaluation;
    if (evaluation.verdict != Verdict::Correct) {
      trial_with(family.trials, evaluation.parameters) = {evaluation.parameters,
                                                          evaluation.verdict};
    }
  }
  search::Trial first{of_default};
  for (const search::Trial& trial : family.trials) {
    first.speeds.resize(std::max(first.speeds.size(), trial.speeds.size()), 1);
  }
  if (!first.speeds.empty()) {
    family.trials.insert(family.trials.begin(), first);
  }
  return family;
}

} // namespace winnow::harness
