#pragma once

#include "evaluators/device/gpu/gpu_driver.h"
#include "evaluators/device/gpu/gpu_probe.h"

#include <memory>
#include <vector>

namespace winnow::evaluators {

/// NVIDIA's driver API, from libcuda.so.1 (or the file that $WINNOW_CUDA_LIBRARY names), loaded at
/// the first call and never unloaded. Needs a driver for CUDA 12.0 or later.

/// Makes the primary context of a GPU current on the calling thread. Throws DeviceUnavailable with
/// reason and remedy. In worker processes only: a context is a means for candidates to break
/// things.
std::unique_ptr<GpuDriver> open_cuda_driver(int ordinal);

/// Every GPU that the driver shows, without making a context; a single entry with ordinal -1 that
/// says why when there is none. In child processes only: the driver keeps threads and memory.
std::vector<GpuProbe> probe_cuda_devices();

} // namespace winnow::evaluators
