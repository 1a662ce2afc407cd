#include "harness/tuning/tune_family.h"

#include "base/error.h"
#include "search/outcome.h"
#include "search/tuning.h"

#include <algorithm>
#include <deque>

namespace winnow::harness {
namespace {

constexpr double kWorthwhileSpeed = 1.02;

using evaluators::EvaluationRequest;
using evaluators::EvaluationResult;

/// nullopt: interrupted.
std::optional<EvaluationResult> next_result(evaluators::OneByOne& evaluations) {
  std::optional<EvaluationResult> result = evaluations.next();
  if (result && !result->fault.empty()) {
    throw Error(result->fault);
  }
  return result;
}

std::optional<tasks::Evaluation> evaluate(EvaluationRequest request,
                                          const tasks::ParameterChoice& choice,
                                          evaluators::OneByOne& evaluations) {
  request.choices = {choice};
  evaluations.submit(std::move(request));
  std::optional<EvaluationResult> result = next_result(evaluations);
  return result ? std::optional(std::move(result->evaluations.front())) : std::nullopt;
}

std::vector<search::Trial> timed_or_failed(std::vector<search::Trial> trials) {
  std::erase_if(trials, [](const search::Trial& one) {
    return one.speeds.empty() && one.verdict == tasks::Verdict::NotJudged;
  });
  return trials;
}

/// Runs the heats until the tuning is over. False: interrupted.
bool run_heats(EvaluationRequest request, search::Tuning& tuning, evaluators::OneByOne& evaluations,
               const std::function<void(std::size_t, std::size_t)>& progress) {
  request.depth = evaluators::Depth::Trial;
  std::deque<search::Tuning::Heat> begun;
  progress(0, tuning.trials().size());
  while (!tuning.is_over()) {
    while (const auto heat = tuning.next()) {
      tuning.begin(*heat);
      begun.push_back(*heat);
      request.choices = heat->choices;
      request.turns = heat->turns;
      evaluations.submit(request);
    }
    const std::optional<EvaluationResult> result = next_result(evaluations);
    if (!result) {
      return false;
    }
    std::vector<search::Trial> trials;
    double device_seconds = 0;
    for (const tasks::Evaluation& trial : result->evaluations) {
      trials.push_back(search::trial_of(trial));
      device_seconds += trial.seconds;
    }
    if (trials.front().verdict == tasks::Verdict::Infrastructure) {
      tuning.fail(begun.front());
    } else {
      tuning.finish(trials, device_seconds);
    }
    begun.pop_front();
    progress(timed_or_failed(tuning.trials()).size(), tuning.trials().size());
  }
  return true;
}

} // namespace

std::vector<tasks::ParameterChoice> best_by_shape(const std::vector<search::Trial>& trials) {
  if (trials.empty()) { // the plan allows one choice
    return {};
  }
  const auto faster = [](const auto& speed) {
    return [speed](const search::Trial& a, const search::Trial& b) { return speed(a) < speed(b); };
  };
  const search::Trial& overall =
      *std::max_element(trials.begin(), trials.end(), faster(search::overall));
  std::vector<tasks::ParameterChoice> best;
  search::Trial by_shape;
  for (std::size_t shape = 0; shape < overall.speeds.size(); ++shape) {
    const auto here = [shape](const search::Trial& trial) {
      return trial.speeds.empty() ? 0 : trial.speeds[shape];
    };
    const auto fastest = std::max_element(trials.begin(), trials.end(), faster(here));
    by_shape.speeds.push_back(here(*fastest));
    best.push_back(fastest->choice);
  }
  const bool gains = search::overall(by_shape) > kWorthwhileSpeed * search::overall(overall);
  return gains ? best : std::vector<tasks::ParameterChoice>{};
}

std::optional<TunedFamily>
tune_family(const TuningRequest& tuning_request, evaluators::OneByOne& evaluations,
            const std::function<void(std::size_t, std::size_t)>& progress) {
  EvaluationRequest request = tuning_request.request;
  const std::vector<tasks::ParameterChoice>& choices = tuning_request.choices;
  TunedFamily family;
  family.seconds = 0;
  const auto of_default = evaluate(request, choices.front(), evaluations);
  if (!of_default) {
    return std::nullopt;
  }
  family.of_default = *of_default;
  if (of_default->verdict != tasks::Verdict::Correct || choices.size() < 2) {
    return family;
  }
  request.incumbent = evaluators::KernelToBeat{request.text, choices.front()};
  search::Tuning tuning(choices, tuning_request.most_seconds);
  const auto start = std::chrono::steady_clock::now();
  if (!run_heats(request, tuning, evaluations, progress)) {
    return std::nullopt;
  }
  family.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  family.device_seconds = tuning.device_seconds();
  request.protocol.time_budget = tuning_request.race_budget;
  while (const auto winner = tuning.winner()) {
    family.of_winner = evaluate(request, *winner, evaluations);
    if (!family.of_winner) {
      return std::nullopt;
    }
    if (family.of_winner->verdict == tasks::Verdict::Correct) {
      break;
    }
    tuning.reject_winner(family.of_winner->verdict);
  }
  family.trials = timed_or_failed(tuning.trials());
  return family;
}

} // namespace winnow::harness
