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
  /// The compiled helper kernels (helper_kernels.h): a module file for the driver's architecture.
  std::filesystem::path helpers;
  /// Called once before a run that outlasts its deadline ends the process with kFaultExitCode:
  /// no driver can cancel a kernel. Called on the thread that runs.
  std::function<void(const DeviceFault&)> on_fatal;
  std::chrono::milliseconds deadline{0}; ///< of each run(), run_timed(); 0: none
  GpuLibraryOpener open_library;         ///< empty: this device has no libraries
  CounterOpener open_counters;           ///< at the first count(); empty: it has no counters
  MonitorOpener open_monitor;            ///< at the first state(); empty: NVML, by the UUID
  std::span<std::byte> arena; ///< host memory that tensors travel through, for pinning; or empty
};

/// A GPU behind the Device interface. Every buffer is an allocation of its own: a poisoned guard
/// zone of 1 MiB, the data (aligned to 256 bytes), and another guard zone that begins at the byte
/// after its end. Inputs are drawn, checked and restored on the device.
///
/// run() waits after every step, so that a fault names its kernel. run_timed() launches the
/// plan's one kernel, or a graph of all its steps, recorded at the first call; everything is driven
/// out of the L2 cache before each cold launch.
/// From the second launch on the stream is held until everything is queued, so that elapsed() has
/// no part of launching in it, where the driver has what that takes (CUDA; gpu_timing.h).
/// An access outside of all memory, a trap or a failed assertion is returned as a fault and leaves
/// the device unusable(): every later call throws Error. A lost device is Verdict::Infrastructure.
/// Device printf writes to the process's stdout. Throws Error when the helpers cannot be loaded.
std::unique_ptr<Device> make_gpu_device(std::unique_ptr<GpuDriver> driver,
                                        GpuDeviceOptions options);

} // namespace winnow::evaluators
