#pragma once

#include "evaluators/device/device.h"
#include "evaluators/device/gpu/gpu_driver.h"
#include "evaluators/device/gpu/gpu_library.h"
#include "evaluators/device/gpu/gpu_profile.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

namespace winnow::evaluators {

struct GpuDeviceOptions {
  /// Module file of the helper kernels (helper_kernels.h), compiled for the driver's architecture.
  std::filesystem::path helpers;
  /// Called when a run exceeds its deadline, before the process ends with kFaultExitCode. The
  /// process must end because no driver can cancel a kernel. Called on the thread that waits for
  /// the run.
  std::function<void(const DeviceFault&)> on_fatal;
  std::chrono::milliseconds deadline{0}; ///< for each run() or run_timed(); 0: none
  GpuLibraryOpener open_library;         ///< empty: the device has no libraries
  CounterOpener open_counters;           ///< called by the first count(); empty: no counters
  MonitorOpener open_monitor;            ///< called by the first state(); empty: NVML, by the UUID
  /// Host memory through which tensors travel. The device pins it. May be empty.
  std::span<std::byte> arena;
};

/// A GPU behind the Device interface. Every buffer is an allocation of its own: a poisoned guard
/// zone of 1 MiB, the data (aligned to 256 bytes), and a second guard zone that begins directly
/// after the last byte of the data. Inputs are drawn, checked and restored on the device.
///
/// run() waits after every step, so that a fault names its kernel. run_timed() launches the plan's
/// only kernel, or a graph of all its steps, which the first call records. Before each cold launch,
/// all data is driven out of the L2 cache. From the second launch on, the stream is held until all
/// work is queued, so that elapsed() contains no launch overhead. Only CUDA can hold a stream
/// (gpu_timing.h).
///
/// An access outside of all memory, a trap or a failed assertion is returned as a fault. The device
/// is unusable afterwards: every later call throws Error. A lost device gives
/// Verdict::Infrastructure. Device printf writes to the process's stdout. Throws Error when the
/// helpers cannot be loaded.
std::unique_ptr<Device> make_gpu_device(std::unique_ptr<GpuDriver> driver,
                                        GpuDeviceOptions options);

} // namespace winnow::evaluators
