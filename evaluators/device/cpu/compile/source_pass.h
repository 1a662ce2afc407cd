#pragma once

#include "evaluators/device/source/source_parts.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// Raised with every change of what the pass makes of a source: part of the cache key.
constexpr int kSourcePassVersion = 6;

struct SourcePassInput {
  std::string source;
  std::map<std::string, std::int64_t> parameters;
  std::vector<std::string> kernels;   ///< instantiated names: "softmax<128>"
  std::vector<std::string> constants; ///< constant expressions to be read back
  std::vector<std::string> headers;   ///< that may be included
};

struct SourcePassResult {
  /// C++17 for a CPU module: headers, parameters, the code with its own line numbers, kernel table,
  /// one winnow_signature_N array per kernel, one winnow_constant_N per constant. Empty when there
  /// is a mistake.
  std::string translated;
  std::optional<SourceMistake> mistake;
  SourceScan scan; ///< its tokens are gone; kernels and hints are of use
};

/// Turns CUDA C++ device code into C++ for the cpu device. Pure.
SourcePassResult run_source_pass(const SourcePassInput& input);

} // namespace winnow::evaluators
