#pragma once

#include "tasks/plan/plan_resolve.h"

#include <string>

namespace winnow::evaluators {

/// What is known of a CUDA architecture ("sm_90a") without a GPU of its kind: the limits of a block
/// and of a multiprocessor, from the CUDA C++ Programming Guide, "Compute Capabilities". For
/// compiling only: sm_count is 1. Throws UsageError, naming those it knows.
tasks::DeviceFacts cuda_architecture_facts(const std::string& architecture);

} // namespace winnow::evaluators
