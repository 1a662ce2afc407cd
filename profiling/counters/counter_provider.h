#pragma once

#include "base/availability.h"
#include "profiling/counters/counter_report.h"

#include <functional>
#include <memory>

namespace winnow::profiling {

/// One run of what is counted. Several passes repeat both.
struct CountedRun {
  std::function<void()> restore; ///< inputs, poison, empty caches; waits for all of it
  std::function<void()> launch;  ///< the work to be counted; waits for it
};

/// Reads a device's counters in the process that has its context; on that process's one thread.
/// Counting is a pass of its own: nothing that is timed is counted.
class CounterProvider {
public:
  virtual ~CounterProvider() = default;
  /// Whether counters can be read here at all: library, permission, device.
  virtual Availability availability() const = 0;
  /// Never throws for what counters do: a failure is in the report. What `run` throws passes
  /// through, and the provider is as before.
  virtual CounterReport collect(CounterSet set, const CountedRun& run) = 0;
};

} // namespace winnow::profiling
