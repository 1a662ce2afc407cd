#pragma once

#include "evaluators/evaluation/evaluator.h"
#include "tasks/result/sitting.h"

#include <memory>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// A correct kernel that takes part in a sitting.
struct Finalist {
  tasks::KernelFile file;
  tasks::ParameterChoice parameters;
  std::string kernel; ///< tasks::kernel_digest() of both
};

/// So many rounds make a sitting.
constexpr int kSittingRounds = 6;

/// Times finalists and the baseline of one task against each other, launch beside launch, in one
/// worker a round. Whoever is wrong on held-out shapes, or in a timed launch that is judged, loses
/// its place; after each launch it is drawn whether it is. Finalists with the same machine code and
/// launches are one contestant. One thread, but for cancel().
class Sitting {
public:
  Sitting(tasks::Task task, std::shared_ptr<DeviceHost> host, EvaluationOptions options,
          std::vector<Finalist> finalists);
  ~Sitting();
  Sitting(const Sitting&) = delete; // owns child processes
  Sitting& operator=(const Sitting&) = delete;

  /// Compiles, and judges everybody on the held-out shapes. Before the first round. Throws Error
  /// for what is not a finalist's fault.
  void admit();
  /// A few turns at each search and held-out shape. Throws as admit().
  void round();
  /// Of the rounds so far. `baseline_spread`: SittingResult::baseline_spread.
  tasks::SittingResult result(double baseline_spread) const;
  /// admit() and round() return soon, and nothing of this is worth anything any more.
  void cancel();

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace winnow::evaluators
