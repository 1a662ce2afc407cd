#pragma once

#include "evaluators/device/gpu/gpu_driver.h"
#include "profiling/counters/counter_provider.h"
#include "profiling/power/energy.h"
#include "profiling/power/gpu_monitor.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace winnow::evaluators {

/// Opens the counters of the device that this process has opened. The device must outlive the
/// provider. Never returns nullptr.
using CounterOpener = std::function<std::unique_ptr<profiling::CounterProvider>()>;
using MonitorOpener = std::function<profiling::OpenedMonitor()>;

} // namespace winnow::evaluators

namespace winnow::evaluators::gpu {

/// A launch to be repeated without gaps.
struct RepeatedLaunch {
  std::function<void()> queue;      ///< queues one launch
  std::function<void()> wait;       ///< waits for all queued launches
  std::chrono::nanoseconds time{0}; ///< duration of one launch
  std::function<double()> now_s;    ///< a steady clock, in seconds
};

/// Repeats the launch for kEnergySeconds and reads the monitor every few milliseconds while the
/// device works. Waits often, so that a deadline is noticed. Exceptions of the launches pass
/// through.
profiling::EnergyReadings read_energy(profiling::GpuMonitor& monitor, const RepeatedLaunch& launch);

/// State, counters and energy of a GPU. Each source is opened on first use.
class Profile {
public:
  /// An empty `open_counters`: no counters. An empty `open_monitor`: NVML, by the driver's UUID.
  Profile(const GpuDriver& driver, CounterOpener open_counters, MonitorOpener open_monitor);

  profiling::GpuState state();
  /// A report for each run. Exceptions of the runs pass through.
  std::vector<profiling::CounterReport> count(profiling::CounterSet set,
                                              std::span<const profiling::CountedRun> runs);
  /// Why energy() cannot measure; nullopt: it can.
  std::optional<std::string> no_energy();
  /// Exceptions of `launch` pass through.
  profiling::Energy energy(const RepeatedLaunch& launch);

private:
  const profiling::OpenedMonitor& monitor();

  CounterOpener open_counters_;
  MonitorOpener open_monitor_;
  std::unique_ptr<profiling::CounterProvider> counters_;
  std::optional<profiling::OpenedMonitor> monitor_;
};

} // namespace winnow::evaluators::gpu
