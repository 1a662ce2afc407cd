#pragma once

#include "evaluators/device/compiler.h"
#include "evaluators/device/gpu/gpu_vendor.h"
#include "process/sandbox.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

struct GpuCompilerOptions {
  const GpuVendor* vendor = nullptr; ///< must be set
  std::string architecture;          ///< "sm_90a", "gfx90a"
  std::filesystem::path cache;       ///< directory for modules
  std::chrono::milliseconds timeout{20'000};
  std::uint64_t memory_bytes = std::uint64_t{3} << 30; ///< address space of the compiler
};

/// Compiles with the vendor's compiler in a fenced `_compile-gpu` child. Needs no GPU. Modules are
/// GpuModuleFiles. Any number of compiles may run at once. Throws Error, with the packages to
/// install, when this machine has no such compiler or the compiler does not know the architecture.
std::unique_ptr<Compiler> make_gpu_compiler(process::Sandbox sandbox, GpuCompilerOptions options);

/// Entry point of the hidden subcommand `_compile-gpu`. `vendor_of` a kind throws Error.
int compile_gpu_worker_main(std::vector<std::string> arguments,
                            const GpuVendor& (*vendor_of)(std::string_view kind));

} // namespace winnow::evaluators
