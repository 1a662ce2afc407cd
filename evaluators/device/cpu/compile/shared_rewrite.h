#pragma once

#include "evaluators/device/source/directives.h"
#include "evaluators/device/source/source_scan.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// How `__shared__` declarations are rewritten. A macro cannot do all of it.
struct SharedRewrite {
  std::vector<SourceEdit> edits;
  /// Statements that point the file-scope `extern __shared__` names at the block's dynamic shared
  /// memory. They must run before a kernel.
  std::vector<std::string> bindings;
};

/// Turns `extern __shared__ T x[]` into a pointer to dynamic shared memory: a local pointer in a
/// function, a thread_local pointer (set by a binding) at file scope. Also removes `static` and
/// moves the alignment to the front.
SharedRewrite rewrite_shared(std::string_view source, const std::vector<Token>& tokens,
                             const SourceScan& scan);

} // namespace winnow::evaluators
