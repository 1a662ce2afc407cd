#pragma once

#include "base/availability.h"
#include "profiling/counters/counter_report.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace winnow::profiling {

/// One counted run. Several passes repeat both steps.
struct CountedRun {
  std::function<void()> restore; ///< restores inputs and poison, empties the caches, and waits
  std::function<void()> launch;  ///< launches the counted work and waits
};

/// Reads the counters of a device. Only the process with the device's context may use it, from one
/// thread. Counting uses separate launches: a timed launch is never counted.
class CounterProvider {
public:
  virtual ~CounterProvider() = default;
  /// Whether this process can read counters: checks library, permission and device.
  virtual Availability availability() const = 0;
  /// Counts each run for itself and returns a report for each. A pass has all runs, because to
  /// begin and end a pass takes longer than a run. Never throws for a failure of the counters; the
  /// reports have the failure. Exceptions of the runs pass through, and the provider stays usable.
  virtual std::vector<CounterReport> collect_all(CounterSet set,
                                                 std::span<const CountedRun> runs) = 0;
  CounterReport collect(CounterSet set, const CountedRun& run) {
    return collect_all(set, {&run, 1}).front();
  }
};

/// A provider without counters that runs nothing. `why` is not ok and has the reason.
std::unique_ptr<CounterProvider> make_no_counters(std::string provider, Availability why);

/// "why; remedy" of an Availability that is not ok, for CounterReport::unavailable.
std::string unavailable_text(const Availability& availability);

} // namespace winnow::profiling
