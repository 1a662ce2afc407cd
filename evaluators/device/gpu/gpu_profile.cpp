#include "evaluators/device/gpu/gpu_profile.h"

#include "profiling/counters/counter_provider.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace winnow::evaluators::gpu {
namespace {

constexpr std::chrono::milliseconds kBatch{10};
// Drivers queue about a thousand launches. Further launches block the host, which then notices no
// deadline.
constexpr std::int64_t kMostQueued = 512;
// The energy counter changes every 20 ms at most. Reading it takes up to some milliseconds, in
// which the device may run out of short launches.
constexpr double kReadingSeconds = 0.01;

std::int64_t batch_of(std::chrono::nanoseconds time) {
  const std::int64_t fit = time.count() > 0 ? std::chrono::nanoseconds(kBatch) / time : kMostQueued;
  return std::clamp<std::int64_t>(fit, 1, kMostQueued);
}

void read(profiling::GpuMonitor& monitor, double at_s, profiling::EnergyReadings& readings) {
  if (const auto energy = monitor.energy_mj()) {
    readings.energy_mj.push_back({at_s, *energy});
  }
  if (const auto power = monitor.power_w()) {
    readings.power_w.push_back({at_s, *power});
  }
}

MonitorOpener nvml_opener(const std::string& uuid) {
  return [uuid]() -> profiling::OpenedMonitor {
    if (uuid.empty()) {
      return {nullptr, Availability::no("the driver does not tell the UUID of this GPU", "")};
    }
    return profiling::make_gpu_monitor(uuid);
  };
}

} // namespace

profiling::EnergyReadings read_energy(profiling::GpuMonitor& monitor,
                                      const RepeatedLaunch& launch) {
  profiling::EnergyReadings readings;
  const std::int64_t batch = batch_of(launch.time);
  double read_at = launch.now_s();
  read(monitor, read_at, readings);
  readings.begin_s = readings.end_s = launch.now_s();
  while (readings.end_s - readings.begin_s < profiling::kEnergySeconds) {
    for (std::int64_t i = 0; i < batch; ++i) {
      launch.queue();
    }
    readings.launches += batch;
    if (const double now = launch.now_s(); now - read_at >= kReadingSeconds) {
      read(monitor, now, readings);
      read_at = now;
    }
    launch.wait();
    readings.end_s = launch.now_s();
  }
  read(monitor, launch.now_s(), readings);
  return readings;
}

Profile::Profile(const GpuDriver& driver, CounterOpener open_counters, MonitorOpener open_monitor)
    : open_counters_(std::move(open_counters)),
      open_monitor_(open_monitor ? std::move(open_monitor) : nvml_opener(driver.uuid())) {}

const profiling::OpenedMonitor& Profile::monitor() {
  if (!monitor_) {
    monitor_ = open_monitor_();
  }
  return *monitor_;
}

profiling::GpuState Profile::state() {
  const profiling::OpenedMonitor& opened = monitor();
  return opened.monitor != nullptr ? opened.monitor->state() : profiling::GpuState{};
}

std::vector<profiling::CounterReport> Profile::count(profiling::CounterSet set,
                                                     std::span<const profiling::CountedRun> runs) {
  if (!open_counters_) {
    profiling::CounterReport report;
    report.provider = "none";
    report.unavailable = "this device has no counters";
    return {runs.size(), report};
  }
  if (counters_ == nullptr) {
    counters_ = open_counters_();
  }
  return counters_->collect_all(set, runs);
}

std::optional<std::string> Profile::no_energy() {
  const profiling::OpenedMonitor& opened = monitor();
  return opened.monitor != nullptr
             ? std::nullopt
             : std::optional(profiling::unavailable_text(opened.availability));
}

profiling::Energy Profile::energy(const RepeatedLaunch& launch) {
  return profiling::energy_of(read_energy(*monitor().monitor, launch));
}

} // namespace winnow::evaluators::gpu
