#pragma once

#include "evaluators/device/compile/compile_answer.h"
#include "evaluators/device/gpu/compile/gpu_toolchain.h"
#include "evaluators/device/module.h"

#include <filesystem>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::evaluators {

/// What the coordinator sends to a `_compile-gpu` child, as one JSON text on its stdin.
struct GpuCompileJob {
  CompileRequest request;
  GpuToolchain toolchain;
  std::string architecture;
  std::filesystem::path headers;   ///< directory with cuda/, hip/ and common/
  std::filesystem::path directory; ///< writable; the module becomes kGpuModuleName in it
};

constexpr const char* kGpuModuleName = "module.gpu";

void to_json(nlohmann::json& json, const GpuCompileJob& job);
void from_json(const nlohmann::json& json, GpuCompileJob& job); ///< throws nlohmann exceptions

/// In the child, once fenced in: source assembly, compiler, what the image says of its kernels.
CompileAnswer compile_gpu_job(const GpuCompileJob& job);

} // namespace winnow::evaluators
