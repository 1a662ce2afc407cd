#pragma once

#include "evaluators/device/compile/compile_answer.h"
#include "evaluators/device/gpu/compile/gpu_toolchain.h"
#include "evaluators/device/gpu/compile/runtime_compiler.h"
#include "evaluators/device/module.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace winnow::evaluators {

/// The coordinator's message to a `_compile-gpu` child: a line of JSON on stdin. A child gets one
/// job. Only after a warm-up job does a second one follow.
struct GpuCompileJob {
  CompileRequest request;
  GpuToolchain toolchain;
  std::string architecture;
  std::filesystem::path headers;   ///< directory with cuda/, hip/ and common/
  std::filesystem::path directory; ///< writable; the module is written there as kGpuModuleName
  bool warm_up = false;            ///< only prepare for the job in the next line
};

constexpr const char* kGpuModuleName = "module.gpu";

std::string encode(const GpuCompileJob& job);
GpuCompileJob decode_gpu_compile_job(const std::string& line); ///< throws Error

/// For the child, after enter_sandbox(): assembles the source, compiles it, and reads the facts
/// about the kernels from the image. `warm`: the result of warm_up_gpu_compiler(), if that was
/// called.
CompileAnswer compile_gpu_job(const GpuCompileJob& job, std::unique_ptr<RuntimeCompiler> warm = {});

/// For the child: loads the compiler and compiles a trivial source, because a compiler's first
/// compile has a large fixed cost. Returns nullptr on failure; the job will then report the error.
std::unique_ptr<RuntimeCompiler> warm_up_gpu_compiler(const GpuCompileJob& job);

} // namespace winnow::evaluators
