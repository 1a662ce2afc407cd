#pragma once

#include "evaluators/device/source/source_parts.h"

namespace winnow::evaluators {

/// Part of the cache key. Raised with every change of the translation.
constexpr int kSourcePassVersion = 7;

/// Translates CUDA C++ device code to C++17 for the CPU device: with the prelude and the kernel
/// table of that device. Of `input.headers` only the names count. A pure function.
TranslatedSource run_source_pass(SourceInput input);

} // namespace winnow::evaluators
