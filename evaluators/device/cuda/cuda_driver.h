#pragma once

#include "evaluators/device/device_report.h"
#include "evaluators/device/gpu/gpu_driver.h"
#include "evaluators/device/gpu/gpu_vendor.h"

#include <memory>
#include <vector>

namespace winnow::evaluators {

extern const GpuVendor kCudaVendor;

/// NVIDIA's driver API, from libcuda.so.1 or the file that $WINNOW_CUDA_LIBRARY names. The first
/// call loads the library; it is never unloaded. Needs a driver for CUDA 12.0 or later.

/// Makes the primary context of a GPU current on the calling thread. Throws DeviceUnavailable with
/// reason and remedy. Call it in worker processes only, because a candidate can damage a context.
std::unique_ptr<GpuDriver> open_cuda_driver(int ordinal);

/// Every GPU that the driver reports, without opening a context. If there is none, a single entry
/// with the reason. Call it in child processes only, because the driver keeps
/// threads and memory.
std::vector<DeviceReport> probe_cuda_devices();

} // namespace winnow::evaluators

namespace winnow::evaluators::cuda {

/// The meaning of a CUresult other than 0. Sources: the comments at CUresult in cuda.h, and "CUDA
/// Driver API", Data types, CUresult.
ErrorClass classify(int result);

} // namespace winnow::evaluators::cuda
