#pragma once

#include "tasks/plan/resolve/plan_resolve.h"
#include "tasks/result/evaluation.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// How device code is built. A `Check` build is instrumented to find races and uninitialised reads
/// of shared memory.
enum class BuildMode : std::uint8_t { Plain = 1, Check = 2 };

struct CompileRequest {
  std::string file;                  ///< name used in messages
  std::string source;                ///< device code (KernelFile::source)
  tasks::ParameterChoice parameters; ///< the code sees them as constants of the same names
  std::vector<std::string> kernels;  ///< instantiated names: "softmax<128>"
  /// Constant expressions whose values CompiledFacts returns: "sizeof(T<64>)"
  std::vector<std::string> constants;
  bool fast_math = false;
  BuildMode mode = BuildMode::Plain;
};

/// A compiled module, or the reason why there is none.
struct CompileResult {
  /// Correct: compiled. Else CompileError, Unsupported, OverLimit, Infrastructure.
  tasks::Verdict verdict = tasks::Verdict::NotJudged;
  /// The first error in one or a few lines, with the candidate's own line numbers
  std::string detail;
  std::filesystem::path module; ///< path of the binary in the cache; empty: not compiled
  /// One signature per requested kernel, in the same order; values of the constants
  tasks::CompiledFacts facts;
  tasks::BuildRecord build;
  std::shared_ptr<const void> kept; ///< the cache keeps `module` while a copy of this exists
};

} // namespace winnow::evaluators
