#pragma once

#include "evaluators/device/device_report.h"
#include "evaluators/device/gpu/gpu_driver.h"
#include "evaluators/device/gpu/gpu_vendor.h"

#include <memory>
#include <vector>

namespace winnow::evaluators {

extern const GpuVendor kHipVendor;

/// AMD's HIP runtime, from libamdhip64.so.7, .6 or .5, or from the file that $WINNOW_HIP_LIBRARY
/// names. The first call loads the library; it is never unloaded. Needs ROCm 5.0 or later.
///
/// Features that AMD GPUs lack are refused as InvalidLaunch: clusters, tensor maps and, with
/// ROCm 5.2 and older, cooperative launches. pin() never throws; it pins if it can. With most ROCm
/// versions a memory fault is not returned as an error: the runtime ends the process.

/// Makes a GPU current on the calling thread. Throws DeviceUnavailable with reason and remedy. Call
/// it in worker processes only, because a candidate can damage a context.
std::unique_ptr<GpuDriver> open_hip_driver(int ordinal);

/// Every GPU that the runtime reports. If there is none, a single entry with the reason. Call it in
/// child processes only, because the runtime keeps threads and memory.
std::vector<DeviceReport> probe_hip_devices();

} // namespace winnow::evaluators
