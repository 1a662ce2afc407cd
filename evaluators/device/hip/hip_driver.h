#pragma once

#include "evaluators/device/gpu/gpu_driver.h"
#include "evaluators/device/gpu/gpu_probe.h"

#include <memory>
#include <vector>

namespace winnow::evaluators {

/// AMD's HIP runtime, from libamdhip64.so.7, .6 or .5 (or the file that $WINNOW_HIP_LIBRARY names),
/// loaded at the first call and never unloaded. ROCm 5.0 or later.
///
/// What AMD GPUs lack is refused as InvalidLaunch: clusters, tensor maps and, with ROCm 5.2 and
/// older, cooperative launches. pin() does what it can and never throws. A memory fault does
/// not come back as an error on most ROCm versions: the runtime ends the process.

/// Makes a GPU current on the calling thread. Throws DeviceUnavailable with reason and remedy.
/// In worker processes only: a context is a means for candidates to break things.
std::unique_ptr<GpuDriver> open_hip_driver(int ordinal);

/// Every GPU that the runtime shows; a single entry with ordinal -1 that says why when there is
/// none. In child processes only: the runtime keeps threads and memory.
std::vector<GpuProbe> probe_hip_devices();

} // namespace winnow::evaluators
