#pragma once

#include "evaluators/device/gpu/gpu_driver.h"
#include "tasks/plan/plan_resolve.h"

#include <functional>
#include <memory>
#include <string>

namespace winnow::evaluators {

/// A vendor's library of ready-made kernels, loaded at run time, that works on the driver's stream
/// and in its context. Every call throws GpuError with failure InvalidLaunch when the library
/// cannot do what is asked: nothing of a candidate's is in it.
class GpuLibrary {
public:
  virtual ~GpuLibrary() = default;
  /// Queues the step on the stream. The first time for a step it chooses an algorithm and allocates
  /// its workspace, which a recording (GpuDriver::record) does not allow: queue it once before.
  virtual void queue(const tasks::LibraryStep& step, GpuAddress a, GpuAddress b, GpuAddress c) = 0;
};

/// Opens the library of that name ("cublaslt") for a driver that outlives it. Throws GpuError
/// (InvalidLaunch) where it is not installed.
using GpuLibraryOpener =
    std::function<std::unique_ptr<GpuLibrary>(const std::string& name, GpuDriver& driver)>;

} // namespace winnow::evaluators
