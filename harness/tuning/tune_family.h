#pragma once

#include "evaluators/evaluation/ordered_results.h"
#include "harness/tuning/tuned_family.h"
#include "tasks/plan/kernel_file.h"

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

namespace winnow::harness {

/// What there is to tune, and how long.
struct TuningRequest {
  /// Has the task, the text and the protocol.
  evaluators::EvaluationRequest request;
  std::vector<tasks::ParameterChoice> choices; ///< the default first
  double most_seconds = 0;                     ///< see search::Tuning
  std::chrono::milliseconds race_budget{0};    ///< per shape and kernel, of the winner's race
};

/// By shape, the choice that was the fastest there. Empty if choosing by shape gains nothing over
/// the best choice overall, beyond the noise of the trials.
std::vector<tasks::ParameterChoice> best_by_shape(const std::vector<search::Trial>& trials);

/// Tunes the parameters of a family: the same decisions as in a search. `progress`: is told how
/// many of how many choices have been tried, first when the trials begin. nullopt: interrupted.
/// Throws Error if the machine cannot judge.
std::optional<TunedFamily>
tune_family(const TuningRequest& tuning, evaluators::OneByOne& evaluations,
            const std::function<void(std::size_t, std::size_t)>& progress);

} // namespace winnow::harness
