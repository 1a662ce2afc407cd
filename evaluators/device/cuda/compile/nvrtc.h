#pragma once

#include "base/availability.h"
#include "evaluators/device/gpu/compile/gpu_image.h"
#include "evaluators/device/gpu/compile/runtime_compiler.h"
#include "tasks/plan/resolve/plan_resolve.h"

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
/// The limits of a block and of a multiprocessor of a CUDA architecture ("sm_90a"), for machines
/// without such a GPU. Source: CUDA C++ Programming Guide, "Compute Capabilities". For compiling
/// only: sm_count is 1. Throws UsageError, with the list of the known architectures.
tasks::DeviceFacts cuda_architecture_facts(const std::string& architecture);
GpuToolchain find_cuda_toolchain(const std::string& architecture);
std::unique_ptr<RuntimeCompiler> open_cuda_compiler(const GpuToolchain& toolchain);
void read_cuda_image(const CompiledImage& image, GpuImageFacts& facts);

} // namespace winnow::evaluators
