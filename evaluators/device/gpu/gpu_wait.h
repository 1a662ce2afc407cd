#pragma once

#include "evaluators/device/device_fault.h"
#include "evaluators/device/gpu/gpu_driver.h"

#include <chrono>
#include <functional>
#include <string>

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
  void wait(const std::string& where, Clock::time_point start = Clock::now());

private:
  GpuDriver& driver_;
  std::chrono::milliseconds deadline_;
  std::function<void(const DeviceFault&)> on_fatal_;
};

} // namespace winnow::evaluators::gpu
