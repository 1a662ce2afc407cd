#pragma once

#include "evaluators/device/gpu/compile/runtime_compiler.h"
#include "evaluators/device/source/directives.h"
#include "evaluators/device/source/source_parts.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

struct GpuSourceInput {
  std::string source; ///< KernelFile::source
  std::map<std::string, std::int64_t> parameters;
  std::vector<std::string> kernels;   ///< instantiated names: "softmax<128>"
  std::vector<std::string> constants; ///< constant expressions whose values are read back
  HeaderRules headers;                ///< the headers that may be included
  std::string prelude;                ///< first header of the unit: "winnow_cuda.h"
};

struct GpuSource {
  /// The text for RuntimeCompileJob::source. It has the prelude, the parameters,
  /// the code with its own line numbers (file kCandidateFile), one winnow_signature_N per kernel
  /// and one winnow_constant_N per constant (file kPlanFile). Empty when there is a mistake.
  std::string translated;
  std::optional<SourceMistake> mistake;
  SourceScan scan; ///< its tokens are gone; only kernels and hints are valid
};

/// Turns a candidate's code into a translation unit for NVRTC or hiprtc. A pure function.
GpuSource assemble_gpu_source(const GpuSourceInput& input);

/// The headers that GPU code may include: Winnow's headers below `headers`, and the vendor's
/// headers that device code can use.
HeaderRules gpu_header_rules(const GpuToolchain& toolchain, const std::filesystem::path& headers);

} // namespace winnow::evaluators
