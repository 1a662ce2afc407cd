#pragma once

#include "evaluators/device/device.h"
#include "evaluators/device/gpu/gpu_driver.h"

#include <chrono>
#include <functional>
#include <string>

namespace winnow::evaluators::gpu {

/// Waits for a driver's stream, but not for ever: no driver can cancel a kernel, so the process
/// ends with kFaultExitCode when it takes too long.
class Waiter {
public:
  using Clock = std::chrono::steady_clock;

  /// `deadline` 0: none. `on_fatal`, which may be empty, is called before the process ends.
  Waiter(GpuDriver& driver, std::chrono::milliseconds deadline,
         std::function<void(const DeviceFault&)> on_fatal)
      : driver_(driver), deadline_(deadline), on_fatal_(std::move(on_fatal)) {}

  /// `where`: what is being waited for; the time counts from `start`. Throws GpuError: what the
  /// work has done wrong.
  void wait(const std::string& where, Clock::time_point start = Clock::now());

private:
  GpuDriver& driver_;
  std::chrono::milliseconds deadline_;
  std::function<void(const DeviceFault&)> on_fatal_;
};

} // namespace winnow::evaluators::gpu
