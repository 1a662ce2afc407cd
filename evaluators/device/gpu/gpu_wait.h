#pragma once

#include "evaluators/device/device_fault.h"
#include "evaluators/device/gpu/gpu_driver.h"

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

namespace winnow::evaluators::gpu {

/// Waits for a driver's stream, up to a deadline. At the deadline the process ends with
/// kFaultExitCode, because no driver can cancel a kernel.
class Waiter {
public:
  using Clock = std::chrono::steady_clock;

  /// `deadline` 0: none. `on_fatal` is called before the process ends; it may be empty.
  Waiter(GpuDriver& driver, std::chrono::milliseconds deadline,
         std::function<void(const DeviceFault&)> on_fatal)
      : driver_(driver), deadline_(deadline), on_fatal_(std::move(on_fatal)) {}

  /// `where` names the work. The time counts from `start`. Throws GpuError for an error of the
  /// work.
  void wait(const std::string& where, Clock::time_point start = Clock::now()) {
    constexpr std::chrono::microseconds kSpin{2000}; // drawing inputs and most kernels take less
    constexpr std::chrono::microseconds kNap{50};
    const auto spin_until = Clock::now() + kSpin;
    while (!driver_.idle()) {
      if (deadline_.count() > 0 && Clock::now() - start > deadline_) {
        if (on_fatal_) {
          on_fatal_({tasks::Verdict::Timeout,
                     fmt::format("ran longer than {} ms; now in {}", deadline_.count(), where)});
        }
        _exit(kFaultExitCode);
      }
      if (Clock::now() > spin_until) {
        std::this_thread::sleep_for(kNap);
      }
    }
  }

private:
  GpuDriver& driver_;
  std::chrono::milliseconds deadline_;
  std::function<void(const DeviceFault&)> on_fatal_;
};

} // namespace winnow::evaluators::gpu
