#pragma once

#include "evaluators/device/device_fault.h"
#include "profiling/power/gpu_monitor.h"
#include "tasks/plan/resolve/plan_resolve.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace winnow::evaluators {

/// State of the caches before a timed run. Cold: the caches hold none of the run's data. Warm: the
/// caches hold the data that the previous run left.
enum class CacheState : std::uint8_t { Cold, Warm };

/// The part of a Device that times runs.
class DeviceTimer {
public:
  /// Starts a new turn of timed runs. On a GPU, the launches of one turn use the same stream, and
  /// the next turn uses another one, so that the choice of stream averages out over a series.
  virtual void begin_turn() {}
  /// Runs the steps for a timing, with as little launch overhead as possible. `Cold` also evicts
  /// the data from the caches first. Until release_buffers(), every call for the same set must pass
  /// the same `steps`.
  virtual std::optional<DeviceFault> run_timed(const std::vector<tasks::Step>& steps,
                                               CacheState caches = CacheState::Cold) = 0;
  /// Device time of the last run() or run_timed(), as exact as the device can measure it.
  virtual std::chrono::nanoseconds elapsed() const = 0;
  /// True when the host disturbed the last run_timed(). Its elapsed() must not become a sample.
  virtual bool disturbed() const { return false; }
  /// Clock of the multiprocessors during the last run_timed(), measured on the multiprocessors;
  /// nullopt: this device cannot measure the clock.
  virtual std::optional<double> measured_clock_mhz() const { return std::nullopt; }
  /// A sample with a lower clock does not count, because the device was throttled. 0: not known.
  virtual double least_clock_mhz() const { return 0; }
  /// Current clocks, temperature, power and throttle reasons, as far as they can be read.
  virtual profiling::GpuState state() { return {}; }

protected:
  ~DeviceTimer() = default; // a Device is deleted as a Device
};

} // namespace winnow::evaluators
