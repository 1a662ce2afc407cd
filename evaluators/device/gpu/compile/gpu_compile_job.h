#pragma once

#include "evaluators/device/compile/compile_answer.h"
#include "evaluators/device/gpu/compile/gpu_toolchain.h"
#include "evaluators/device/gpu/compile/header_groups.h"
#include "evaluators/device/gpu/compile/runtime_compiler.h"
#include "evaluators/device/module.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::evaluators {

/// What the coordinator sends to a `_compile-gpu` child, as a line of JSON on its stdin. After a
/// warm-up, and only then, another follows.
struct GpuCompileJob {
  CompileRequest request;
  GpuToolchain toolchain;
  std::string architecture;
  std::filesystem::path headers;   ///< directory with cuda/, hip/ and common/
  std::filesystem::path directory; ///< writable; the module becomes kGpuModuleName in it
  std::string group;               ///< HeaderGroup::name that the source seems to use; empty: none
  std::optional<PrecompiledHeader> precompiled; ///< of that group
  bool precompile = false; ///< instead of compiling a candidate: make kPrecompiledName of the group
  bool warm_up = false;    ///< instead of it: make ready for the job in the next line
};

constexpr const char* kGpuModuleName = "module.gpu";
constexpr const char* kPrecompiledName = "headers.pch";

void to_json(nlohmann::json& json, const GpuCompileJob& job);
void from_json(const nlohmann::json& json, GpuCompileJob& job); ///< throws nlohmann exceptions

/// In the child, once fenced in: source assembly, compiler, what the image says of its kernels.
/// `warm`: of warm_up_gpu_compiler(), where that was called before.
CompileAnswer compile_gpu_job(const GpuCompileJob& job, std::unique_ptr<RuntimeCompiler> warm = {});

/// In the child: loads the compiler and has it compile next to nothing, which a compiler's first
/// compile takes most of its time for. nullptr when that fails: the job will say why.
std::unique_ptr<RuntimeCompiler> warm_up_gpu_compiler(const GpuCompileJob& job);

/// In the child: precompiles a header group. Throws Error, with why, when that does not work here.
CompileAnswer precompile_gpu_headers(const GpuCompileJob& job);

} // namespace winnow::evaluators
