#pragma once

#include "evaluators/device/gpu/gpu_driver.h"
#include "profiling/counters/counter_provider.h"
#include "profiling/power/energy.h"
#include "profiling/power/gpu_monitor.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace winnow::evaluators {

/// Counters of the device that the process has opened; the provider lives no longer than the
/// device. Never null.
using CounterOpener = std::function<std::unique_ptr<profiling::CounterProvider>()>;
using MonitorOpener = std::function<profiling::OpenedMonitor()>;

} // namespace winnow::evaluators

namespace winnow::evaluators::gpu {

/// Launches that follow each other without a gap.
struct RepeatedLaunch {
  std::function<void()> queue;      ///< one of them
  std::function<void()> wait;       ///< for all that are queued
  std::chrono::nanoseconds time{0}; ///< that one takes
  std::function<double()> now_s;    ///< a steady clock
};

/// Launches for kEnergySeconds and reads the monitor every few milliseconds, while the device
/// works. Waits often enough for a deadline to be seen. What the launches throw passes through.
profiling::EnergyReadings read_energy(profiling::GpuMonitor& monitor, const RepeatedLaunch& launch);

/// What a GPU tells of itself, each source opened when it is first asked for.
class Profile {
public:
  /// `open_counters` empty: there are none. `open_monitor` empty: NVML, by the driver's UUID.
  Profile(const GpuDriver& driver, CounterOpener open_counters, MonitorOpener open_monitor);

  profiling::GpuState state();
  /// What `run` throws passes through.
  profiling::CounterReport count(profiling::CounterSet set, const profiling::CountedRun& run);
  /// Why energy() would have nothing to read; nullopt: it has.
  std::optional<std::string> no_energy();
  /// What `launch` throws passes through.
  profiling::Energy energy(const RepeatedLaunch& launch);

private:
  const profiling::OpenedMonitor& monitor();

  CounterOpener open_counters_;
  MonitorOpener open_monitor_;
  std::unique_ptr<profiling::CounterProvider> counters_;
  std::optional<profiling::OpenedMonitor> monitor_;
};

} // namespace winnow::evaluators::gpu
