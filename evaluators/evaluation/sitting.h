#pragma once

#include "evaluators/evaluation/evaluations.h"

#include <memory>
#include <stop_token>

namespace winnow::evaluators {

/// Number of rounds of a sitting.
constexpr int kSittingRounds = 6;

/// Holds the sittings of the request on this device, round by round in turns. A board whose sitting
/// fails has a fault; after a request to stop, all have one.
SittingAnswer hold_sittings(const SittingRequest& request, const std::shared_ptr<DeviceHost>& host,
                            const MachineOptions& machine, const std::stop_token& stop,
                            const HoldProgress& progress);

/// Times the finalists and the baseline of one task against each other, launch beside launch, with
/// one worker per round. A finalist that is wrong on a held-out shape or in a judged launch is
/// dropped. After each timed launch, a random draw decides whether the launch is judged. Finalists
/// with the same machine code and launches form one contestant. For one thread, except cancel().
class Sitting {
public:
  Sitting(const SittingRequest::Board& board, std::shared_ptr<DeviceHost> host,
          EvaluationOptions options);
  ~Sitting();
  Sitting(const Sitting&) = delete; // owns child processes
  Sitting& operator=(const Sitting&) = delete;

  /// Compiles the finalists and judges them on the held-out shapes. Call it before the first round.
  /// Throws Error for an error that is not a finalist's fault.
  void admit();
  /// Times a few turns at each search shape, and in some rounds at each held-out shape. Throws like
  /// admit().
  void round();
  /// The result of the rounds so far.
  tasks::SittingResult result() const;
  /// Makes admit() and round() return soon. The results of this sitting are invalid afterwards.
  void cancel();

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace winnow::evaluators
