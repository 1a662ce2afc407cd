#pragma once

#include "evaluators/device/compiler.h"
#include "evaluators/evaluation/evaluator.h"
#include "evaluators/judge/judge.h"
#include "evaluators/messages/arena.h"
#include "evaluators/messages/shared_plan.h"
#include "evaluators/torch/torch_child.h"
#include "evaluators/worker/runner.h"
#include "profiling/roofline/ceilings.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// A kernel's plan at one shape.
struct PlanAtShape {
  std::optional<SharedPlan> plan; ///< nullopt: see `errors`
  std::vector<Diagnostic> errors;
  std::vector<Diagnostic> warnings;
};

/// A kernel file compiled for some shapes with one choice of parameters.
struct BuiltKernel {
  const tasks::KernelFile* file = nullptr;
  const tasks::Task* task = nullptr; ///< the task with the names that this file uses
  tasks::ParameterChoice choice;
  CompileResult compiled;
  /// What plan_at() has resolved for a device with the facts `planned_for`, by everything that
  /// makes a shape. Its id is not enough: a mutant of the inputs changes scalars, and keeps the id.
  mutable std::map<std::string, PlanAtShape> plans;
  mutable tasks::DeviceFacts planned_for;
};

/// The plan of `kernel` at a shape. Resolves the plan with the first call only. The reference is
/// valid until the next call with `kernel`. Two threads may not use one `kernel` at the same time.
const PlanAtShape& plan_at(const BuiltKernel& kernel, const tasks::DeviceFacts& facts,
                           const tasks::Shape& shape);
/// True if `kernel` is compiled, with all kernels that its plan launches at `shapes`, and the file
/// of the module still exists. Then nothing is to be compiled for these shapes.
bool serves(const BuiltKernel& kernel, const tasks::DeviceFacts& facts,
            const std::vector<tasks::Shape>& shapes);

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
  DeviceHost(DeviceReport report, const MachineOptions& machine,
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

/// Compiles `file` with the kernels that `shapes` need on a device with these facts. Mistakes in
/// the plan go to `errors`.
BuiltKernel build_kernel(Compiler& compiler, const tasks::DeviceFacts& facts,
                         const tasks::KernelFile& file, const tasks::Task& view,
                         const tasks::ParameterChoice& choice,
                         const std::vector<tasks::Shape>& shapes, BuildMode mode,
                         const std::function<bool()>& cancelled, std::vector<Diagnostic>& errors);

/// The first allowed choice; empty when no choice is allowed.
tasks::ParameterChoice default_choice(const tasks::KernelFile& file);

/// The shapes for which a candidate is compiled first: tiny and search.
std::vector<tasks::Shape> shown_shapes(const tasks::Task& task, const std::string& device_kind);

} // namespace winnow::evaluators
