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
/// own kernel, in a final of any contestant, it is drawn whether its outputs go to the arena to be
/// judged.
///
/// A turn is one launch of every contestant, in an order that is drawn for each two turns (ABBA or
/// BAAB), so that what drifts hits all of them alike. There may be several sets of the tensors
/// (places), as the addresses of buffers move the time of a short kernel: a round is one turn with
/// each place. A series ends when every contestant's median is known well enough, when its budget
/// is spent, or when the case's own kernel has clearly lost against the last rival; it is drawn out
/// while it may yet win. In a final, who has spent its own budget takes part no more, so that a
/// fast kernel gets more turns than a slow one.
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
    Contestant(const profiling::WarmUpLimits& warm_up_limits, const profiling::StopLimits& limits)
        : warm_up(warm_up_limits), stop_rule(limits) {}

    std::vector<std::unique_ptr<CaseRunner>> runners; ///< one a place
    std::vector<double> samples;
    profiling::WarmUp warm_up;
    profiling::StopRule stop_rule;
    int launches = 0;
    double last_ns = 0;
    std::uint64_t salt = 0;  ///< of the poison before its last launch
    int neighbours_left = 0; ///< launches among which one is judged
    bool neighbour_judged = false;
    bool judged = false;    ///< at least one
    double launched_ns = 0; ///< in its launches
    double spent_ns = 0;    ///< on them and what comes before them
    bool over = false;      ///< of a final: it takes part no more
  };

  void add_buffers(std::size_t place);
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
  bool baseline_is_too_short() const;
  bool may_win() const;
  double whole_budget_ns() const; ///< of all contestants
  bool too_slow_for_whole_rounds() const;
  bool is_judged(std::size_t contestant) const { return contestant == 0 || sampling_.all_judged; }
  bool lacks_judged() const; ///< somebody is due to be judged and was not yet
  /// Whether this contestant's last launch will be judged; nobody can know before it.
  bool wants_judging(std::size_t contestant, const RunCaseReport& report);
  double expected_launches(const Contestant& contestant) const; ///< in the whole series
  bool more_of_final(RunCaseReport& report);
  std::optional<DeviceFault> hand_over_outputs(std::size_t contestant, std::size_t place,
                                               RunCaseReport& report);
  std::optional<DeviceFault> verify();
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
  bool must_judge_ = false;
  profiling::Race race_; ///< of the case's own kernel against the last rival
  double spent_ns_ = 0;
};

} // namespace winnow::evaluators
