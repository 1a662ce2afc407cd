#pragma once

#include "harness/run/state/run_clock.h"
#include "harness/run/state/run_setup.h"
#include "harness/run/state/stop_sign.h"
#include "harness/run/state/task_state.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace winnow::harness {

/// Counts the verdicts of a run, and tells the user about each one.
class VerdictTally {
public:
  VerdictTally(const RunLoopSetup& setup, const RunClock& clock, StopSign& stop)
      : setup_(setup), clock_(clock), stop_(stop) {}

  void count(tasks::Verdict verdict);
  /// Counts a candidate that is settled. The baseline counts nowhere.
  void count(TaskState& state, store::RowId candidate, const search::Outcome& outcome);
  /// The outcome of a candidate that was counted does not count any more.
  void withdraw(TaskState& state, store::RowId candidate, const search::Outcome& outcome);
  /// `key`: of the candidate's call.
  void tell(const TaskState& state, const std::string& key, const tasks::Evaluation& evaluation);
  void tell_baseline(const TaskState& state, const tasks::Evaluation& evaluation);
  /// Leaves the task out if its baseline is not correct.
  void check_baseline(const TaskState& state, const tasks::Evaluation& evaluation);
  /// Tells how many replies earlier sessions have stored.
  void tell_restored(std::int64_t replies);

  /// Of the models' candidates.
  const std::map<std::string, std::int64_t>& verdicts() const { return verdicts_; }
  std::chrono::milliseconds last_result() const { return last_result_; }

private:
  const RunLoopSetup& setup_;
  const RunClock& clock_;
  StopSign& stop_;
  std::map<std::string, std::int64_t> verdicts_;
  std::chrono::milliseconds last_result_{0}; ///< RunClock::elapsed() at the newest verdict
};

} // namespace winnow::harness
