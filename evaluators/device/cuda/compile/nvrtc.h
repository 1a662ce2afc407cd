#pragma once

#include "base/availability.h"
#include "evaluators/device/gpu/compile/gpu_image.h"
#include "evaluators/device/gpu/compile/gpu_toolchain.h"
#include "evaluators/device/gpu/compile/runtime_compiler.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// Whether this machine has an NVRTC. Its detail: version, library, headers.
Availability probe_nvrtc();

/// NVRTC's options except the include directories. Part of the cache key.
std::vector<std::string> nvrtc_options(const std::string& architecture, bool fast_math);

/// Compiles to a cubin with NVRTC. Errors in inline PTX are logged as "winnow_ptx(LINE): error: ...
/// in 'PTX'". `builtins`: see NvrtcInstallation. Throws Error when the library cannot be loaded.
std::unique_ptr<RuntimeCompiler> open_nvrtc(const std::filesystem::path& library,
                                            const std::filesystem::path& builtins);

// For GpuVendor.
GpuToolchain find_cuda_toolchain(const std::string& architecture);
std::unique_ptr<RuntimeCompiler> open_cuda_compiler(const GpuToolchain& toolchain);
void read_cuda_image(const CompiledImage& image, GpuImageFacts& facts);

} // namespace winnow::evaluators
