#pragma once

#include "evaluators/selftest/reference_run.h"

#include <string>

namespace winnow::evaluators {

/// Why `operations` of a task cannot be right, measured by what reference.cu loads and stores: a
/// kernel computes something with what it loads, and most compute little. One sentence with both
/// figures; empty: nothing speaks against it, or the device cannot count (GPUs).
std::string doubt_about_operations(Session& session, ReferenceRun& runner,
                                   const SelftestOptions& options);

} // namespace winnow::evaluators
