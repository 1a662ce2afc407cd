#pragma once

#include "evaluators/device/gpu/compile/gpu_toolchain.h"

#include <string>

namespace winnow::evaluators {

/// This machine's hiprtc. See GpuVendor::find_toolchain.
GpuToolchain find_hip_toolchain(const std::string& architecture);

} // namespace winnow::evaluators
