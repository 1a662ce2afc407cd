#pragma once

#include "profiling/counters/counter_report.h"
#include "profiling/power/energy.h"
#include "tasks/plan/resolve/plan_resolve.h"

#include <functional>
#include <span>
#include <vector>

namespace winnow::evaluators {

/// A run whose work is counted.
struct CountedSteps {
  const std::vector<tasks::Step>* steps; ///< never nullptr
  std::function<void()> select;          ///< selects the run's buffers and module
  std::function<void()> restore;         ///< resets outputs and inouts, before each pass
};

/// The part of a Device that measures what runs do and need beside time. Without overrides, it
/// measures nothing and says so.
class DeviceCounters {
public:
  /// Reads performance counters over each of the runs, and returns a report for each. The counters
  /// need passes of their own; after the passes the inputs are as before. Never throws because of a
  /// counter failure: the reports then have the reason.
  virtual std::vector<profiling::CounterReport> count_all(std::span<const CountedSteps> runs,
                                                          profiling::CounterSet set);
  /// Counts one run on the selected buffers.
  profiling::CounterReport count(const std::vector<tasks::Step>& steps, profiling::CounterSet set,
                                 const std::function<void()>& restore);
  /// Launches the steps for about a second. Returns the average energy of one launch, or the reason
  /// why it is not known.
  virtual profiling::Energy energy(const std::vector<tasks::Step>& steps);

protected:
  ~DeviceCounters() = default; // a Device is deleted as a Device
};

} // namespace winnow::evaluators
