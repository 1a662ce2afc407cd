#pragma once

#include "evaluators/selftest/reference_run.h"

#include <string>

namespace winnow::evaluators {

/// Why the task's `operations` cannot be right: a sentence with that figure and the number of
/// elements that reference.cu loads and stores. A kernel does some operations per access, and most
/// kernels do few. Empty if the figures fit, or if the device cannot count (GPUs).
std::string doubt_about_operations(TaskOnDevice& on_device, ReferenceRun& runner,
                                   const SelftestOptions& options);

} // namespace winnow::evaluators
