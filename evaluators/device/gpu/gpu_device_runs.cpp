// The launches of a GpuDevice: for checks, timings, counters and energy.
#include "evaluators/device/gpu/gpu_device_class.h"
#include "evaluators/device/gpu/gpu_fault.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

namespace winnow::evaluators::gpu {
namespace {

// The value of nvbench. With a lower clock, the device was throttled.
constexpr double kLeastShareOfClock = 0.75;

std::string describe_run(const std::vector<tasks::Step>& steps, const char* what) {
  return steps.size() == 1 ? describe(steps.front())
                           : fmt::format("{} of {} steps", what, steps.size());
}

} // namespace

double GpuDevice::least_clock_mhz() const {
  return kLeastShareOfClock * clock_mhz_;
}

std::optional<DeviceFault> GpuDevice::run(const std::vector<tasks::Step>& steps) {
  require_usable();
  last_ = {};
  if (auto fault = this->steps().refuse(steps)) {
    return fault;
  }
  const auto start = std::chrono::steady_clock::now();
  for (const tasks::Step& step : steps) {
    try {
      run_step(step, start);
    } catch (const GpuError& error) {
      DeviceFault fault = take_fault(error, describe(step));
      if (!error.sticky() && error.failure() != GpuFailure::BadModule) {
        fault.detail += this->steps().requirements(step);
      }
      return fault;
    }
  }
  return std::nullopt;
}

void GpuDevice::run_step(const tasks::Step& step, std::chrono::steady_clock::time_point start) {
  driver_->mark(0);
  steps().queue(step);
  driver_->mark(1);
  waiter_.wait(describe(step), start);
  last_.elapsed += driver_->between_marks();
}

void GpuDevice::begin_turn() {
  require_usable();
  timing_.begin_turn();
}

std::optional<DeviceFault> GpuDevice::run_timed(const std::vector<tasks::Step>& steps,
                                                CacheState caches) {
  require_usable();
  last_ = {};
  if (auto fault = this->steps().refuse(steps)) {
    return fault;
  }
  const std::string where = describe_run(steps, "a timed run");
  try {
    launch_timed(steps, caches, where);
  } catch (const GpuError& error) {
    return take_fault(error, where);
  }
  return std::nullopt;
}

GpuDevice::Replay& GpuDevice::replay_of(const std::vector<tasks::Step>& steps) {
  Replay& replay = replays_[buffers_.selected()];
  const bool one_kernel =
      steps.size() == 1 && std::holds_alternative<tasks::LaunchStep>(steps.front());
  if (!one_kernel && replay.graph == 0) {
    this->steps().prepare_recording(steps);
    replay.graph = driver_->record([&] {
      for (const tasks::Step& step : steps) {
        this->steps().queue(step);
      }
    });
  }
  return replay;
}

void GpuDevice::queue_timed(const std::vector<tasks::Step>& steps, const Replay& replay) {
  if (replay.graph != 0) {
    driver_->launch(replay.graph);
  } else {
    this->steps().queue(steps.front());
  }
}

void GpuDevice::launch_timed(const std::vector<tasks::Step>& steps, CacheState caches,
                             const std::string& where) {
  Replay& replay = replay_of(steps);
  const bool hold = std::exchange(replay.launched, true);
  last_ = timing_.time([&] { queue_timed(steps, replay); }, caches, hold, where);
}

std::vector<profiling::CounterReport> GpuDevice::count_all(std::span<const CountedSteps> runs,
                                                           profiling::CounterSet set) {
  require_usable();
  const auto failed = [&runs](const DeviceFault& fault) {
    profiling::CounterReport report;
    report.unavailable = "the kernel failed while it was counted: " + fault.detail;
    return std::vector<profiling::CounterReport>(runs.size(), report);
  };
  for (const CountedSteps& run : runs) {
    run.select();
    if (const auto fault = this->steps().refuse(*run.steps)) {
      return failed(*fault);
    }
  }
  std::string where;
  try {
    return count_steps(runs, set, where);
  } catch (const GpuError& error) {
    return failed(take_fault(error, where));
  } catch (const DeviceFailure& failure) { // thrown by restore()
    return failed(failure.fault());
  }
}

/// `where`: describes the run that is being counted.
std::vector<profiling::CounterReport> GpuDevice::count_steps(std::span<const CountedSteps> runs,
                                                             profiling::CounterSet set,
                                                             std::string& where) {
  std::vector<profiling::CountedRun> counted;
  for (const CountedSteps& run : runs) {
    const auto restore = [&] {
      run.select();
      where = describe_run(*run.steps, "a counted run");
      run.restore();
      timing_.empty_cache();
      waiter_.wait("restoring what " + where + " has changed");
    };
    const auto launch = [&] {
      for (const tasks::Step& step : *run.steps) {
        this->steps().queue(step);
      }
      waiter_.wait(where);
    };
    counted.push_back({restore, launch});
  }
  std::vector<profiling::CounterReport> reports = profile_.count(set, counted);
  for (const CountedSteps& run : runs) {
    run.select();
    run.restore();
  }
  return reports;
}

profiling::Energy GpuDevice::energy(const std::vector<tasks::Step>& steps) {
  require_usable();
  profiling::Energy energy;
  const auto failed = [&energy](const DeviceFault& fault) {
    energy.reason = "the kernel failed while it was launched repeatedly: " + fault.detail;
    return energy;
  };
  if (const auto reason = profile_.no_energy()) {
    energy.reason = *reason;
    return energy;
  }
  if (const auto fault = this->steps().refuse(steps)) {
    return failed(*fault);
  }
  const std::string where = describe_run(steps, "repeated runs");
  try {
    return energy_of_steps(steps, where);
  } catch (const GpuError& error) {
    return failed(take_fault(error, where));
  }
}

profiling::Energy GpuDevice::energy_of_steps(const std::vector<tasks::Step>& steps,
                                             const std::string& where) {
  launch_timed(steps, CacheState::Warm, where); // fills the cache
  launch_timed(steps, CacheState::Warm, where);
  const Replay& replay = replay_of(steps);
  RepeatedLaunch launch;
  launch.queue = [&] { queue_timed(steps, replay); };
  launch.wait = [&] { waiter_.wait(where); };
  launch.time = last_.elapsed;
  launch.now_s = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  return profile_.energy(launch);
}

} // namespace winnow::evaluators::gpu
