#pragma once

#include "evaluators/worker/arena.h"
#include "evaluators/worker/case_runner.h"
#include "evaluators/worker/protocol.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace winnow::evaluators {

/// The timed launches of one case. Its slots are sets of inputs at different addresses that take
/// turns in an order which nobody can foresee; before each launch outputs and scratch are poisoned
/// with a fresh pattern, inouts restored and the module's variables put back, all outside of the
/// timed interval. Within a round every slot has one launch.
class TimedRuns {
public:
  /// `run_case` (with `sampling`) and `arena` outlive this. Throws DeviceFailure.
  TimedRuns(Device& device, const RunCase& run_case, const ArenaView& arena);
  /// Adds samples, and outputs that are not the known ones, to `report`.
  std::optional<DeviceFault> run(RunCaseReport& report);

private:
  struct Slot {
    TimedSlot asked;
    std::unique_ptr<CaseRunner> runner;
    std::uint64_t salt = 0; ///< of the poison before its last launch
    bool unverified = false;
  };

  std::optional<DeviceFault> prepare(RunCaseReport& report);
  std::optional<DeviceFault> sample(RunCaseReport& report);
  std::optional<DeviceFault> round(RunCaseReport& report);
  std::optional<DeviceFault> warm_again();
  std::optional<DeviceFault> launch(Slot& slot);
  /// `spare_areas`: so many areas of the arena stay free for others.
  void verify(std::size_t slot, int spare_areas, RunCaseReport& report);

  Device& device_;
  const RunCase& case_;
  const SamplingRequest& sampling_;
  const ArenaView& arena_;
  std::mt19937_64 random_;
  std::vector<Slot> slots_;
  int launches_ = 0;
  double spent_ns_ = 0;
};

} // namespace winnow::evaluators
