#pragma once

#include "evaluators/device/gpu/gpu_driver.h"
#include "tasks/plan/resolve/plan_resolve.h"

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace winnow::evaluators {

/// A vendor's library of ready-made kernels, loaded at run time. It uses the driver's stream and
/// context. A call throws GpuError with failure InvalidLaunch when the library cannot do the step.
/// No code of a candidate runs in it.
class GpuLibrary {
public:
  virtual ~GpuLibrary() = default;
  /// Queues the step on the stream. `operands` has the address of each of the step's operands. The
  /// first call for a step chooses an algorithm and allocates its workspace. A recording
  /// (GpuDriver::record) does not allow that, so call queue() once before.
  virtual void queue(const tasks::LibraryStep& step, std::span<const GpuAddress> operands) = 0;
};

/// Opens the library with this name ("cublaslt") for a driver, which must outlive the library.
/// Throws GpuError (InvalidLaunch) when the library is not installed.
using GpuLibraryOpener =
    std::function<std::unique_ptr<GpuLibrary>(const std::string& name, GpuDriver& driver)>;

} // namespace winnow::evaluators
