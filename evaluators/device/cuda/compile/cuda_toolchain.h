#pragma once

#include "evaluators/device/gpu/compile/gpu_toolchain.h"
#include "evaluators/device/gpu/compile/runtime_compiler.h"

#include <memory>
#include <string>

namespace winnow::evaluators {

/// This machine's NVRTC. See GpuVendor::find_toolchain.
GpuToolchain find_cuda_toolchain(const std::string& architecture);

/// open_nvrtc() for a toolchain that find_cuda_toolchain() found.
std::unique_ptr<RuntimeCompiler> open_nvrtc_of(const GpuToolchain& toolchain);

} // namespace winnow::evaluators
