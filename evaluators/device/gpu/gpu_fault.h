#pragma once

#include "evaluators/device/device_fault.h"
#include "evaluators/device/gpu/gpu_driver.h"

#include <string>

namespace winnow::evaluators::gpu {

/// "kernel 'scale<4>' (grid 3x1x1, block 256x1x1)", "the fill of 'y'", "the copy from 'a' to 'b'".
std::string describe(const tasks::Step& step);

/// The verdict on a failed call. `where` names the work that ran or was about to run.
DeviceFault fault_of(const GpuError& error, const std::string& where);

} // namespace winnow::evaluators::gpu
