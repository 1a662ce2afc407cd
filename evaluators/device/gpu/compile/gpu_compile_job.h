#pragma once

#include "evaluators/device/compile/compile_answer.h"
#include "evaluators/device/gpu/compile/runtime_compiler.h"
#include "evaluators/device/gpu/gpu_vendor.h"
#include "evaluators/device/module.h"

#include <filesystem>
#include <string>

namespace winnow::evaluators {

/// The coordinator's message to a `_compile-gpu` child: one JSON text on stdin.
struct GpuCompileJob {
  CompileRequest request;
  GpuToolchain toolchain;
  std::string architecture;
  std::filesystem::path headers; ///< directory with common/ and a folder for each kind of GPU
};

std::string encode(const GpuCompileJob& job);
GpuCompileJob decode_gpu_compile_job(const std::string& text); ///< throws Error

/// For the child, after enter_sandbox(): assembles the source, compiles it, and reads the facts
/// about the kernels from the image.
CompiledModule compile_gpu_job(const GpuCompileJob& job, const GpuVendor& vendor);

} // namespace winnow::evaluators
