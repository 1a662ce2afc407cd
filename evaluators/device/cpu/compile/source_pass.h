#pragma once

#include "evaluators/device/source/source_parts.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// Part of the cache key. Raised with every change of the translation.
constexpr int kSourcePassVersion = 7;

struct SourcePassInput {
  std::string source;
  std::map<std::string, std::int64_t> parameters;
  std::vector<std::string> kernels;   ///< instantiated names: "softmax<128>"
  std::vector<std::string> constants; ///< constant expressions whose values are read back
  std::vector<std::string> headers;   ///< the headers that may be included
};

struct SourcePassResult {
  /// C++17 for a CPU module. It has headers, parameters, the code with its own line numbers, the
  /// kernel table, one winnow_signature_N array per kernel and one winnow_constant_N per constant.
  /// Empty when there is a mistake.
  std::string translated;
  std::optional<SourceMistake> mistake;
  SourceScan scan; ///< its tokens are gone; only kernels and hints are valid
};

/// Translates CUDA C++ device code to C++ for the CPU device. A pure function.
SourcePassResult run_source_pass(const SourcePassInput& input);

} // namespace winnow::evaluators
