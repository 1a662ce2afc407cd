#pragma once

#include "evaluators/device/gpu/gpu_driver.h"
#include "evaluators/device/gpu/gpu_probe.h"

#include <memory>
#include <vector>

namespace winnow::evaluators {

/// NVIDIA's driver API, from libcuda.so.1 or the file that $WINNOW_CUDA_LIBRARY names. The first
/// call loads the library; it is never unloaded. Needs a driver for CUDA 12.0 or later.

/// Makes the primary context of a GPU current on the calling thread. Throws DeviceUnavailable with
/// reason and remedy. Call it in worker processes only, because a candidate can damage a context.
std::unique_ptr<GpuDriver> open_cuda_driver(int ordinal);

/// Every GPU that the driver reports, without opening a context. If there is none, a single entry
/// with ordinal -1 and the reason. Call it in child processes only, because the driver keeps
/// threads and memory.
std::vector<GpuProbe> probe_cuda_devices();

} // namespace winnow::evaluators
