#pragma once

#include "evaluators/evaluation/contest.h"
#include "evaluators/evaluation/eager_times.h"
#include "evaluators/evaluation/evaluations.h"
#include "profiling/statistics/sitting.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

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
class Sitting : TaskOnDevice {
public:
  Sitting(const SittingRequest::Board& board, std::shared_ptr<DeviceHost> host,
          EvaluationOptions options);

  /// Compiles the finalists and judges them on the held-out shapes. Call it before the first round.
  /// Throws Error for an error that is not a finalist's fault.
  void admit();
  /// Times a few turns at each search shape, and in some rounds at each held-out shape. Throws like
  /// admit().
  void round();
  /// The result of the rounds so far.
  tasks::SittingResult result() const;
  /// Makes admit() and round() return soon. The results of this sitting are invalid afterwards.
  void cancel() { cancelled = true; }

private:
  void add_yardstick();
  void add(std::size_t finalist);
  Contest::Series series() const;
  void take(const Contest::Turns& turns);
  /// Indices of shapes_.
  using Places = std::vector<std::size_t>;

  tasks::SittingRow row_of(std::size_t finalist, const std::vector<std::size_t>& running,
                           const profiling::Sitting& search,
                           const std::vector<profiling::Sitting>& at_places) const;
  void add_times(tasks::SittingRow& row, std::size_t contestant, std::size_t index,
                 const std::vector<profiling::Sitting>& at_places) const;
  void add_races(tasks::SittingRow& row, std::size_t finalist,
                 const std::vector<std::size_t>& running, const profiling::Sitting& search) const;
  std::vector<double> samples(std::size_t shape, std::size_t contestant) const;
  double median_ns(std::size_t shape, std::size_t contestant) const;
  double baseline_median_ns(std::size_t shape) const;
  Places places(tasks::ShapeSet set) const;
  /// Whether the baseline takes long enough at this shape for a hidden speed to count.
  bool counts_at(std::size_t place) const;
  AgainstEager yardstick(const Places& places) const;
  profiling::Sitting over(const Places& places, const std::vector<std::size_t>& running) const;

  const std::vector<Finalist> finalists_;
  /// By finalist; nullopt: the finalist was refused
  std::vector<std::optional<tasks::KernelFile>> files_;
  const double baseline_spread_;
  /// By finalist; nullopt: the finalist was refused
  std::vector<std::optional<std::size_t>> contestant_of_;
  /// By finalist: the evaluation that says why it was refused
  std::vector<tasks::Evaluation> refused_;
  const tasks::Evaluation blank_;
  std::vector<tasks::Shape> shapes_; ///< search shapes, then held-out shapes
  /// Contestant 0 is the task's baseline, if it has one. The others are finalists.
  Contest contest_;
  /// By round, shape and contestant; empty: the contestant had been dropped before.
  std::vector<std::vector<profiling::RoundTimes>> times_;
  double seconds_ = 0;
};

} // namespace winnow::evaluators
