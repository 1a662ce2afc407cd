#pragma once

#include "base/availability.h"
#include "evaluators/device/gpu/compile/runtime_compiler.h"

#include <cstdint>
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

/// Compiles headers to `file`, for sources that begin with the same lines. `job.source` has only
/// headers and ends in `#pragma nv_hdrstop`. The process must have called settle_addresses().
/// Throws Error with the reason when precompiling fails.
PrecompiledHeader precompile_with_nvrtc(const std::filesystem::path& library,
                                        const std::filesystem::path& builtins,
                                        const RuntimeCompileJob& job,
                                        const std::filesystem::path& file);

/// The largest file that precompile_with_nvrtc() may write.
constexpr std::uint64_t kMaxPrecompiledBytes = std::uint64_t{512} << 20U;

} // namespace winnow::evaluators
