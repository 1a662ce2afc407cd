#pragma once

#include "evaluators/device/source/source_edits.h"
#include "evaluators/device/source/source_scan.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// What becomes of `__shared__` declarations, which no macro can express in full.
struct SharedRewrite {
  std::vector<SourceEdit> edits;
  /// Statements that point the file-scope `extern __shared__` names at the block's dynamic shared
  /// memory; to be run before a kernel.
  std::vector<std::string> bindings;
};

/// `extern __shared__ T x[]` becomes a pointer to dynamic shared memory (in a function a local one,
/// at file scope a thread_local one that a binding sets), `static` goes, alignment moves to the
/// front.
SharedRewrite rewrite_shared(std::string_view source, const std::vector<Token>& tokens,
                             const SourceScan& scan);

} // namespace winnow::evaluators
