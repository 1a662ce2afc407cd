#pragma once

#include "evaluators/device/compile/compile_answer.h"
#include "evaluators/device/gpu/compile/gpu_toolchain.h"
#include "evaluators/device/gpu/compile/header_groups.h"
#include "evaluators/device/gpu/compile/runtime_compiler.h"
#include "evaluators/device/module.h"

#include <filesystem>
#include <optional>
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
  std::string group;               ///< HeaderGroup::name that the source seems to use; empty: none
  std::optional<PrecompiledHeader> precompiled; ///< of that group
  bool precompile = false; ///< instead of compiling a candidate: make kPrecompiledName of the group
};

constexpr const char* kGpuModuleName = "module.gpu";
constexpr const char* kPrecompiledName = "headers.pch";

void to_json(nlohmann::json& json, const GpuCompileJob& job);
void from_json(const nlohmann::json& json, GpuCompileJob& job); ///< throws nlohmann exceptions

/// In the child, once fenced in: source assembly, compiler, what the image says of its kernels.
CompileAnswer compile_gpu_job(const GpuCompileJob& job);

/// In the child: precompiles a header group. Throws Error, with why, when that does not work here.
CompileAnswer precompile_gpu_headers(const GpuCompileJob& job);

} // namespace winnow::evaluators
