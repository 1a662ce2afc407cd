#pragma once

#include "harness/config/config.h"
#include "tasks/suite.h"

#include <vector>

namespace winnow::harness {

/// Times the PyTorch modules of the suite with torch.compile on the run's device, and stores the
/// times in the run's store. Throws Error if this PyTorch cannot compile.
void store_compiled_times(const std::vector<tasks::SuiteTask>& suite, const RunConfig& config);

} // namespace winnow::harness
