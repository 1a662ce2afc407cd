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
///
/// No input is timed twice. Before each launch, outside of the timed interval, inputs and inouts
/// are drawn from a seed of that launch alone (launch_seed()), and outputs and scratch are
/// poisoned. All contestants work on the same tensors, one after the other. So an answer that a
/// kernel keeps anywhere belongs to inputs that no later launch has. After a launch of the case's
/// own kernel it is drawn whether its outputs go to the arena to be judged.
///
/// A turn is one launch of every contestant, in an order that is drawn for each two turns (ABBA or
/// BAAB), so that what drifts hits all of them alike. There may be several sets of the tensors
/// (places), as the addresses of buffers move the time of a short kernel: a round is one turn with
/// each place. A series ends when every contestant's median is known well enough, when its budget
/// is spent, or when the case's own kernel has clearly lost against the last rival; it is drawn out
/// while it may yet win.
class TimedRuns {
public:
  /// `run_case` (with `sampling`) and `arena` outlive this; modules 1, 2, ... of the device are the
  /// rivals'. Throws DeviceFailure.
  TimedRuns(Device& device, const RunCase& run_case, const ArenaView& arena);
  /// Adds samples and outputs to `report`.
  std::optional<DeviceFault> run(RunCaseReport& report);
  /// Which of the rivals runs, for a fault that ends the process; nullopt: the case's own kernel.
  std::optional<std::size_t> running_rival() const;

private:
  struct Contestant {
    std::vector<std::unique_ptr<CaseRunner>> runners; ///< one a place
    std::vector<double> samples;
    profiling::WarmUp warm_up;
    profiling::StopRule stop_rule;
    int launches = 0;
    double last_ns = 0;
  };

  void add_buffers(std::size_t place);
  CaseRunner& own(std::size_t place) { return *contestants_.front().runners[place]; }
  std::optional<DeviceFault> prepare(RunCaseReport& report);
  std::optional<DeviceFault> sample(RunCaseReport& report);
  std::optional<DeviceFault> round(RunCaseReport& report);
  std::optional<DeviceFault> turn(std::size_t place, RunCaseReport& report);
  bool runs_backwards();
  std::optional<DeviceFault> launch(std::size_t contestant, std::size_t place, CacheState caches);
  std::optional<DeviceFault> sample_warm(RunCaseReport& report);
  void take(bool first_at_place, bool slow_clock, RunCaseReport& report);
  bool warmed_up(bool first_at_place);
  bool more(RunCaseReport& report);
  bool leads() const;
  bool may_win() const;
  double whole_budget_ns() const; ///< of all contestants
  bool too_slow_for_whole_rounds() const;
  /// Whether the own kernel's last launch will be judged; nobody can know before it.
  bool wants_judging(const RunCaseReport& report);
  double expected_launches() const; ///< of each contestant, in the whole series
  std::optional<DeviceFault> hand_over_outputs(std::size_t place, RunCaseReport& report);
  void hand_over_samples(RunCaseReport& report);

  Device& device_;
  const RunCase& case_;
  const SamplingRequest& sampling_;
  const ArenaView& arena_;
  std::mt19937_64 random_;
  const tasks::ResolvedPlan tensor_plan_;           ///< the task's tensors, without a step
  std::deque<std::unique_ptr<CaseRunner>> tensors_; ///< of that plan, one a place
  std::deque<Contestant> contestants_;              ///< the case's own kernel first
  std::vector<bool> launched_at_;                   ///< by place
  std::size_t running_ = 0;
  bool block_begins_backwards_ = false; ///< with the last contestant
  bool warm_ = false;
  int throttled_in_a_row_ = 0;
  int turns_ = 0;
  int neighbours_left_ = 0; ///< launches among which one is judged
  bool neighbour_judged_ = false;
  bool must_judge_ = false;
  std::uint64_t salt_ = 0; ///< of the poison before the own kernel's last launch
  profiling::Race race_;   ///< of the case's own kernel against the last rival
  double spent_ns_ = 0;
};

} // namespace winnow::evaluators
