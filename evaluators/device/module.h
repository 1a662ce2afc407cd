#pragma once

#include "tasks/plan/plan_resolve.h"
#include "tasks/result/evaluation.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// How device code is built. `Check` is instrumented for races and uninitialised shared reads.
enum class BuildMode : std::uint8_t { Plain = 1, Check = 2 };

struct CompileRequest {
  std::string file;                   ///< name used in messages
  std::string source;                 ///< device code (KernelFile::source)
  tasks::ParameterChoice parameters;  ///< visible to the code as constants of the same names
  std::vector<std::string> kernels;   ///< instantiated names: "softmax<128>"
  std::vector<std::string> constants; ///< constant expressions to be read back: "sizeof(T<64>)"
  bool fast_math = false;
  BuildMode mode = BuildMode::Plain;
};

/// A compiled module, or why there is none.
struct CompileResult {
  tasks::Verdict verdict = tasks::Verdict::NotJudged; ///< Correct: compiled. Else CompileError,
                                                      ///< Unsupported, OverLimit, Infrastructure
  std::string detail; ///< first error, one or a few lines, the candidate's own line numbers
  std::filesystem::path module; ///< the binary, in the cache; empty when not compiled
  tasks::CompiledFacts facts;   ///< one signature per requested kernel, same order; constants
  tasks::BuildRecord build;
  bool used_precompiled = false; ///< headers that another process had compiled
};

} // namespace winnow::evaluators
