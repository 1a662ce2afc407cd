#pragma once

#include "evaluators/device/compiler.h"
#include "evaluators/device/device_report.h"
#include "evaluators/host/built_kernel.h"
#include "evaluators/host/machine_options.h"
#include "evaluators/host/open_device.h"
#include "evaluators/judge/judge.h"
#include "evaluators/messages/arena.h"
#include "evaluators/torch/torch_child.h"
#include "evaluators/worker/runner.h"
#include "process/sandbox.h"
#include "profiling/roofline/ceilings.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

namespace winnow::evaluators {

/// Keeps other Winnow processes from a GPU as long as this object lives, so that two timings never
/// share a GPU. The lock is a file in the system's directory for temporary files, named after the
/// GPU.
class GpuLock {
public:
  GpuLock() = default;
  /// Throws DeviceUnavailable when another process holds the lock.
  explicit GpuLock(const DeviceReport& device);
  ~GpuLock();
  GpuLock(const GpuLock&) = delete; // owns the descriptor
  GpuLock& operator=(const GpuLock&) = delete;

private:
  int fd_ = -1;
};

/// One device of this machine, open for judging, with its fences, compiler, shared memory,
/// judge and worker. The evaluators of all tasks share it, for one evaluation at a time. Only
/// `compiler` and build_kernel() may be used from any thread.
struct DeviceHost {
  /// Throws Error, DeviceUnavailable.
  DeviceHost(const DeviceReport& report, const MachineOptions& machine,
             std::chrono::milliseconds run_timeout);
  /// See open_beside().
  DeviceHost(const DeviceHost& open, const MachineOptions& machine,
             std::chrono::milliseconds run_timeout);

  DeviceReport device;
  std::shared_ptr<const GpuLock> lock;
  process::Sandbox sandbox;
  Arena arena;
  Arena exchange; ///< see kExchangeFd
  std::filesystem::path cache;
  std::unique_ptr<Compiler> compiler;
  CompileResult helpers; ///< of a GPU: keeps the module of `worker_device`
  WorkerDevice worker_device;
  ReferenceJudge judge;
  TorchChild torch; ///< starts with its first question
  std::unique_ptr<Runner> runner;
  std::optional<profiling::Ceilings> ceilings; ///< see ceilings_of()
  HostStatistics spent;                        ///< by all evaluations so far

private:
  DeviceHost(DeviceReport report, std::shared_ptr<const GpuLock> shared_lock,
             const MachineOptions& machine, std::chrono::milliseconds run_timeout);
};

/// Adds the lifetime of this object to a field of HostStatistics.
class SpentTime {
public:
  explicit SpentTime(double& seconds) : seconds_(seconds) {}
  ~SpentTime() {
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  SpentTime(const SpentTime&) = delete; // adds once
  SpentTime& operator=(const SpentTime&) = delete;

private:
  double& seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// The compiler for this device. Throws Error when this machine has none that works.
std::unique_ptr<Compiler> make_compiler(const DeviceReport& device, const process::Sandbox& sandbox,
                                        const MachineOptions& machine,
                                        const std::filesystem::path& cache);

} // namespace winnow::evaluators
