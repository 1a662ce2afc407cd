#pragma once

#include "evaluators/messages/arena.h"
#include "evaluators/messages/protocol.h"
#include "evaluators/worker/case_runner.h"
#include "profiling/statistics/race.h"
#include "profiling/statistics/stop_rule.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace winnow::evaluators {

// Glossary of the timing code:
//   place   a copy of the task's tensors, with scratch for every contestant. Addresses change the
//           time of a short kernel, so a case may have several places.
//   set     a number under which the device keeps buffers (Device::select_buffers()). A place has
//           one set for the tensors and one for the scratch of each contestant.
//   slot    one buffer of a plan with its index on the device (CaseRunner::Slot).
//   salt    a random number that varies the poison in outputs and scratch (poison.h).
//   area    the part of the arena that holds the outputs of one judged launch.
//   turn    one launch of every contestant at one place; on a GPU, all on the same stream.
//   block   two consecutive turns, the second in the opposite order: ABBA or BAAB.
//   round   one turn at each place.
//   series  all rounds of one case.

/// The timed launches of one case: of its own kernel and of the rivals that take turns with it.
///
/// No input is timed twice. Before each launch, outside of the timed interval, inputs and inouts
/// are drawn from a seed of that launch alone (launch_seed()), and outputs and scratch are
/// poisoned. All contestants use the same tensors, one after the other. So an answer that a kernel
/// stores anywhere belongs to inputs that no later launch has. After a launch of the case's own
/// kernel or of the incumbent (in a final: of any contestant), a random draw decides whether its
/// outputs go to the arena to be judged.
///
/// The order of the contestants is drawn once per block, so that drift affects all of them alike.
/// A series ends when the median of every contestant is known well enough, when its budget is
/// spent, or when the case's own kernel has clearly lost against the last rival. A series is
/// prolonged while the case's own kernel may still win. In a final, a contestant takes part in no
/// more turns when its own budget is spent, so a fast kernel gets more turns than a slow one.
class TimedRuns {
public:
  using TakeComputed = std::function<void(CaseRunner&, std::uint64_t seed)>;

  /// `run_case` (with `sampling`) and `arena` must outlive this object. The rivals use modules 1,
  /// 2, ... of the device. Throws DeviceFailure.
  /// `take_computed`: uploads the inputs of a seed that the reference computes.
  TimedRuns(Device& device, const RunCase& run_case, const ArenaView& arena,
            TakeComputed take_computed = {});
  /// Adds samples and outputs to `report`.
  std::optional<DeviceFault> run(RunCaseReport& report);
  /// The rival that is running, for a fault that ends the process; nullopt: the case's own kernel.
  std::optional<std::size_t> running_rival() const;

private:
  /// A launch whose outputs are in the arena.
  struct Drawn {
    std::size_t entry = 0; ///< in RunCaseReport::timed_outputs
    bool counts = false;   ///< its time is a sample
  };
  struct Contestant {
    Contestant(const profiling::WarmUpLimits& warm_up_limits, const profiling::StopLimits& limits)
        : warm_up(warm_up_limits), stop_rule(limits) {}

    std::vector<std::unique_ptr<CaseRunner>> runners; ///< one per place
    std::vector<double> samples;
    profiling::WarmUp warm_up;
    profiling::StopRule stop_rule;
    int launches = 0;
    double last_ns = 0;
    std::uint64_t salt = 0;      ///< salt of the poison before its last launch
    std::vector<Drawn> drawn;    ///< the launches that are to be judged
    double launched_ns = 0;      ///< total time of its launches on the device
    double spent_ns = 0;         ///< host time of its launches, including the renewal of buffers
    double luck = 0;             ///< drawn from 0 to 1; decides about the fraction of a quota
    std::vector<double> host_ns; ///< of each launch, as in `spent_ns`; ascending
    bool over = false;           ///< final only: takes part in no more turns
  };

  void add_buffers(std::size_t place);
  /// Whether the reference computes some of the static inputs, or of the others.
  bool computes(bool of_static) const;
  std::optional<DeviceFault> prepare(RunCaseReport& report);
  std::optional<DeviceFault> sample(RunCaseReport& report);
  std::optional<DeviceFault> round(RunCaseReport& report);
  std::optional<DeviceFault> turn(std::size_t place, RunCaseReport& report);
  bool runs_backwards();
  double renew(CaseRunner& runner, std::uint64_t seed, std::uint64_t salt);
  std::optional<DeviceFault> launch(std::size_t contestant, std::size_t place, CacheState caches);
  std::optional<DeviceFault> sample_warm(RunCaseReport& report);
  void take(bool first_at_place, bool slow_clock, RunCaseReport& report);
  bool warmed_up(bool first_at_place);
  bool more(RunCaseReport& report);
  bool has_incumbent() const;
  bool is_incumbent(std::size_t contestant) const;
  bool leads() const;
  bool baseline_is_too_short() const;
  bool may_win() const;
  double charged_ns() const;      ///< spent_ns_ without stalls
  double whole_budget_ns() const; ///< budget of all contestants together
  bool too_slow_for_whole_rounds() const;
  /// How many launches of this contestant are judged on average.
  double wanted_judged(std::size_t contestant) const;
  /// The areas that this contestant may use.
  std::size_t room(std::size_t contestant) const;
  /// Number of launches of this contestant that are judged in the end.
  std::size_t quota(std::size_t contestant) const;
  /// Draws whether this contestant's last launch is judged. The result must be unknown before the
  /// launch ends.
  bool wants_judging(std::size_t contestant, const RunCaseReport& report);
  TimedOutput& entry_for(Contestant& contestant, std::size_t quota, RunCaseReport& report);
  bool more_of_final(RunCaseReport& report);
  std::optional<DeviceFault> hand_over_outputs(std::size_t contestant, std::size_t place,
                                               RunCaseReport& report);
  std::optional<DeviceFault> verify();
  void hand_over_samples(RunCaseReport& report);

  Device& device_;
  const RunCase& case_;
  const SamplingRequest& sampling_;
  const ArenaView& arena_;
  TakeComputed take_computed_;
  std::mt19937_64 random_;
  const tasks::ResolvedPlan tensor_plan_;           ///< the task's tensors, without steps
  std::deque<std::unique_ptr<CaseRunner>> tensors_; ///< runners of tensor_plan_, one per place
  std::deque<Contestant> contestants_;              ///< the case's own kernel first
  std::vector<bool> launched_at_;                   ///< by place
  std::size_t running_ = 0;
  bool block_begins_backwards_ = false; ///< with the last contestant
  bool warm_ = false;
  int throttled_in_a_row_ = 0;
  int turns_ = 0;
  profiling::Race race_; ///< the case's own kernel against the last rival
  double spent_ns_ = 0;
};

} // namespace winnow::evaluators
