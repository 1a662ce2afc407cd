#pragma once

#include "search/trial.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace winnow::search {

/// Finds the best choice of a family's parameters. A first rung times few choices in few turns:
/// choices that are spread over all, and then twice those that promise most by the times so far
/// (speed_forecast.h). The last rung times the best of them in more turns, and the best choice of
/// each shape with them. A rung is made of heats: a heat times some choices in turns with the
/// family's default, so the speeds of different heats compare. All state is a fold of begin(),
/// finish() and fail().
class Tuning {
public:
  /// Choices that one worker times by turns.
  struct Heat {
    std::vector<tasks::ParameterChoice> choices;
    int turns = 0;
    bool operator==(const Heat&) const = default;
  };

  /// `choices`: the default first, then at least one other. `most_seconds`: after so many seconds
  /// of the device no further wave or rung begins; 0: no limit.
  Tuning(std::vector<tasks::ParameterChoice> choices, double most_seconds);

  /// A heat that has not begun; nullopt: none, until a heat ends.
  std::optional<Heat> next() const;
  bool is_over() const { return waiting_.empty() && in_flight_ == 0; }
  void begin(const Heat& heat);
  /// The trials of a heat, in the order of its choices.
  void finish(const std::vector<Trial>& trials, double device_seconds);
  /// The machine failed during this heat, which begins again; after the second time in a row the
  /// choices count as failed.
  void fail(const Heat& heat);

  /// The fastest choice, if it is faster than the default by more than the noise of a short timing.
  /// Call when the tuning is over. nullopt: the default is the best.
  std::optional<tasks::ParameterChoice> winner() const;
  /// The winner is not correct: the next finalist wins. Call while there is a winner.
  void reject_winner(tasks::Verdict verdict);
  /// One for each choice, the default first. A choice that was not tried has no speeds and the
  /// verdict NotJudged. A finalist has the speeds of the last rung.
  const std::vector<Trial>& trials() const { return trials_; }
  double device_seconds() const { return device_seconds_; }

private:
  std::size_t index_of(const tasks::ParameterChoice& choice) const;
  void begin_heats(const std::vector<std::size_t>& contestants);
  void begin_wave(std::vector<std::size_t> newcomers);
  std::vector<std::size_t> promising() const;
  void end_rung();
  std::vector<std::size_t> best_of(const std::vector<std::size_t>& contestants) const;

  std::vector<Trial> trials_; ///< the default first
  double most_seconds_;
  int turns_;                        ///< of the present rung
  std::vector<std::size_t> rung_;    ///< the choices of the present rung so far
  std::vector<Heat> waiting_;        ///< heats of the rung that have not begun
  int in_flight_ = 0;                ///< heats
  std::vector<std::size_t> unlucky_; ///< choices of heats that have failed once
  double device_seconds_ = 0;
};

} // namespace winnow::search
