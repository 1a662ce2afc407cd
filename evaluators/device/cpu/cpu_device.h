#pragma once

#include "evaluators/device/device.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

namespace winnow::evaluators {

struct CpuDeviceOptions {
  /// OS threads; 0: one per available core. Check modules always use one.
  unsigned workers = 0;
  /// Called once, in a signal handler or from another thread, before the process ends with
  /// kFaultExitCode. It may only format and write.
  std::function<void(const DeviceFault&)> on_fatal;
  /// Called before device code runs: takes memory away that device code must not reach.
  std::function<void()> before_run;
  /// Limit for one run(). When it passes, on_fatal gets the position of every worker. 0: none.
  std::chrono::milliseconds deadline{0};
};

/// Runs CUDA C++ modules on this machine's cores (evaluators/device/cpu/compile makes the modules).
/// Every buffer starts at a multiple of 16 and ends at a guard page, with fewer than 16 poisoned
/// bytes in between (verify_guards()). Nothing else is mapped within 64 GiB of a buffer. Accesses
/// outside of buffers, writes to read-only buffers, stack overflows, other signals and time-outs
/// end the process. on_fatal is called first and names buffer, byte, kernel, block and thread.
/// run() returns divergent barriers, deadlocks and traps, and for check modules each access to
/// memory that is not the kernel's. One device at a time.
std::unique_ptr<Device> make_cpu_device(CpuDeviceOptions options);

/// Limit of the address space for the stacks of device threads, on all workers together.
std::uint64_t cpu_stack_bytes();

/// The facts of this machine that expressions can use (sm_count = cores, warp_size = 32, ...).
tasks::DeviceFacts cpu_device_facts();

} // namespace winnow::evaluators
