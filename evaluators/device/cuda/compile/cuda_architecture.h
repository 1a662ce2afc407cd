#pragma once

#include "tasks/plan/resolve/plan_resolve.h"

#include <string>

namespace winnow::evaluators {

/// The limits of a block and of a multiprocessor of a CUDA architecture ("sm_90a"), for machines
/// without such a GPU. Source: CUDA C++ Programming Guide, "Compute Capabilities". For compiling
/// only: sm_count is 1. Throws UsageError, with the list of the known architectures.
tasks::DeviceFacts cuda_architecture_facts(const std::string& architecture);

} // namespace winnow::evaluators
