#pragma once

#include "base/availability.h"
#include "profiling/counters/counter_report.h"

#include <functional>
#include <memory>

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
  /// Never throws for a failure of the counters; the report has the failure. Exceptions of `run`
  /// pass through, and the provider stays usable.
  virtual CounterReport collect(CounterSet set, const CountedRun& run) = 0;
};

} // namespace winnow::profiling
