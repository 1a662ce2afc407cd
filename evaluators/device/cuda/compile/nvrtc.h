#pragma once

#include "base/availability.h"
#include "evaluators/device/gpu/compile/runtime_compiler.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// Whether this machine has an NVRTC; detail: version, library, headers.
Availability probe_nvrtc();

/// What NVRTC is told besides the include directories. Part of the cache key.
std::vector<std::string> nvrtc_options(const std::string& architecture, bool fast_math);

/// NVRTC to cubin. Errors in inline PTX are logged as "winnow_ptx(LINE): error: ... in 'PTX'".
/// `builtins`: as NvrtcInstallation has it. Throws Error when the library cannot be loaded.
std::unique_ptr<RuntimeCompiler> open_nvrtc(const std::filesystem::path& library,
                                            const std::filesystem::path& builtins);

/// Compiles a source of nothing but headers (`job.source`, which ends in `#pragma nv_hdrstop`) to
/// `file`, for sources that begin with the same lines. In a process that called settle_addresses().
/// Throws Error, with why, when that does not work here.
PrecompiledHeader precompile_with_nvrtc(const std::filesystem::path& library,
                                        const std::filesystem::path& builtins,
                                        const RuntimeCompileJob& job,
                                        const std::filesystem::path& file);

/// What precompile_with_nvrtc() may write, at most.
constexpr std::uint64_t kMaxPrecompiledBytes = std::uint64_t{512} << 20U;

} // namespace winnow::evaluators
