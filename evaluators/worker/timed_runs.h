#pragma once

#include "evaluators/worker/arena.h"
#include "evaluators/worker/case_runner.h"
#include "evaluators/worker/protocol.h"
#include "profiling/statistics/race.h"
#include "profiling/statistics/stop_rule.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace winnow::evaluators {

/// The timed launches of one case: of its own kernel, and of the rivals that take turns with it.
/// Each has slots of its own: sets of inputs at different addresses, in an order which nobody can
/// foresee. Before each launch outputs and scratch are poisoned with a fresh pattern, inouts
/// restored and the modules' variables put back, all outside of the timed interval; what any
/// contestant has computed of the same inputs, in whatever slot, is gone by then. Within a round
/// every slot has one launch.
///
/// On every slot the contestants run one right after the other, on the next slot in the opposite
/// order, so that what drifts hits all of them alike; which order comes first is drawn for each
/// such block (ABBA or BAAB). Where it matters which buffers lie where (`vary_places`), it is drawn
/// for each turn who has which. A series ends when every contestant's median is known well enough,
/// when its budget is spent, or when the case's own kernel has clearly lost against the last rival;
/// it is drawn out while it may yet win.
class TimedRuns {
public:
  /// `run_case` (with `sampling`) and `arena` outlive this; modules 1, 2, ... of the device are the
  /// rivals'. Throws DeviceFailure.
  TimedRuns(Device& device, const RunCase& run_case, const ArenaView& arena);
  /// Adds samples, and outputs that are not the known ones, to `report`.
  std::optional<DeviceFault> run(RunCaseReport& report);
  /// Which of the rivals runs, for a fault that ends the process; nullopt: the case's own kernel.
  std::optional<std::size_t> running_rival() const;

private:
  struct Slot {
    TimedSlot asked;
    std::unique_ptr<CaseRunner> runner;
    std::uint64_t salt = 0;   ///< of the poison before its last launch
    bool has_answers = false; ///< in outputs or scratch
    bool unverified = false;
    bool launched = false; ///< in a turn
  };
  struct Contestant {
    std::vector<Slot> slots;
    std::vector<double> samples;
    profiling::WarmUp warm_up;
    profiling::StopRule stop_rule;
    double last_ns = 0;
  };

  void add_contestant(const std::vector<TimedSlot>& asked);
  void add_buffers();
  std::optional<DeviceFault> prepare(RunCaseReport& report);
  std::optional<DeviceFault> sample(RunCaseReport& report);
  std::optional<DeviceFault> round(RunCaseReport& report);
  std::optional<DeviceFault> turn(std::size_t slot, RunCaseReport& report);
  bool runs_backwards();
  void exchange_places(std::size_t slot);
  std::optional<DeviceFault> warm_again();
  void remove_answers(std::uint64_t seed);
  std::optional<DeviceFault> launch(std::size_t contestant, std::size_t slot,
                                    CacheState caches = CacheState::Cold);
  std::optional<DeviceFault> sample_warm(RunCaseReport& report);
  std::optional<DeviceFault> verify_buffers();
  void take(bool first_of_slot, bool slow_clock, RunCaseReport& report);
  bool warmed_up(bool first_of_slot);
  bool more(RunCaseReport& report);
  bool leads() const;
  bool may_win() const;
  double whole_budget_ns() const; ///< of all contestants
  /// For any more of the slots in a round.
  bool too_slow(std::size_t turns, double spent_ns) const;
  void hand_over(RunCaseReport& report);
  /// Whether the own kernel's launch, the last one, will be judged; nobody can know before it.
  bool wants_verifying(bool last_of_turn);
  void verify_last(RunCaseReport& report);
  /// `spare_areas`: so many areas of the arena stay free for others.
  void verify(std::size_t slot, int spare_areas, RunCaseReport& report);

  Device& device_;
  const RunCase& case_;
  const SamplingRequest& sampling_;
  const ArenaView& arena_;
  std::mt19937_64 random_;
  std::deque<Contestant> contestants_; ///< the case's own kernel first
  std::size_t running_ = 0;
  bool block_begins_backwards_ = false; ///< with the last contestant
  bool warm_ = false;
  int throttled_in_a_row_ = 0;
  profiling::Race race_; ///< of the case's own kernel against the last rival
  double spent_ns_ = 0;
};

} // namespace winnow::evaluators
