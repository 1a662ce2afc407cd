#pragma once

#include "evaluators/device/gpu/compile/header_groups.h"
#include "evaluators/device/source/source_parts.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

struct GpuSourceInput {
  std::string source; ///< KernelFile::source
  std::map<std::string, std::int64_t> parameters;
  std::vector<std::string> kernels;   ///< instantiated names: "softmax<128>"
  std::vector<std::string> constants; ///< constant expressions to be read back
  HeaderRules headers;                ///< that may be included
  std::string prelude;                ///< header that goes first: "winnow_cuda.h"
  std::vector<HeaderGroup> groups;    ///< that go first, too, where the source uses one
};

struct GpuSource {
  /// For RuntimeCompileJob::source: prelude or group_prefix(), parameters, the code with its own
  /// line numbers (file kCandidateFile), one winnow_signature_N per kernel and one
  /// winnow_constant_N per constant (file kPlanFile). Empty when there is a mistake.
  std::string translated;
  std::optional<SourceMistake> mistake;
  std::string group; ///< whose group_prefix() `translated` begins with; empty: none
  SourceScan scan;   ///< its tokens are gone; kernels and hints are of use
};

/// Makes a translation unit for NVRTC or hiprtc of a candidate's code. Pure.
GpuSource assemble_gpu_source(const GpuSourceInput& input);

} // namespace winnow::evaluators
