#pragma once

#include "search/trial.h"
#include "tasks/result/evaluation.h"

#include <optional>
#include <vector>

namespace winnow::harness {

/// A kernel family after its tuning.
struct TunedFamily {
  tasks::Evaluation of_default;      ///< in full. If it is not correct, nothing else was done
  std::vector<search::Trial> trials; ///< one for each choice that was tried, the default first
  /// In full, beside the default: of the choice that was the fastest in its trials; if that one is
  /// not correct, of the next one. nullopt: none was faster than the default.
  std::optional<tasks::Evaluation> of_winner;
  double device_seconds = 0; ///< of the trials
  /// From the first trial to the end of the last one; nullopt: not known.
  std::optional<double> seconds;

  /// The winner's evaluation if it is correct and has won its race, otherwise the default's.
  const tasks::Evaluation& best() const;
};

} // namespace winnow::harness
