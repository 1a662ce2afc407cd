#pragma once

#include "evaluators/device/device.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

namespace winnow::evaluators {

struct CpuDeviceOptions {
  unsigned workers = 0; ///< OS threads; 0: one per available core. Check modules always use one.
  /// Called once, in a signal handler or from another thread, before the process ends with
  /// kFaultExitCode: must only format and write.
  std::function<void(const DeviceFault&)> on_fatal;
  /// From the start of run(): then on_fatal with where every worker is. 0: none.
  std::chrono::milliseconds deadline{0};
};

/// CUDA C++ modules on this machine's cores (evaluators/device/cpu/compile makes them). Every
/// buffer starts at a multiple of 16 and ends at a guard page (less than 16 poisoned bytes between,
/// see verify_guards()). Accesses outside of buffers, writes to read-only ones, stack overflows,
/// other signals and time-outs end the process after on_fatal has named buffer, byte, kernel, block
/// and thread. Divergent barriers, deadlocks and traps are returned by run(). One device at a time.
std::unique_ptr<Device> make_cpu_device(CpuDeviceOptions options);

/// Address space that the stacks of device threads may take, on all workers together.
std::uint64_t cpu_stack_bytes();

/// Facts of this machine as expressions see them (sm_count = cores, warp_size = 32, ...).
tasks::DeviceFacts cpu_device_facts();

} // namespace winnow::evaluators
