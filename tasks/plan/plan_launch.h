#pragma once

#include "tasks/plan/plan_context.h"

#include <string>
#include <vector>

namespace winnow::tasks {

/// The kernel's name with {NAME} and {dtype:buffer} replaced. Throws PlanMistake, also for a name
/// that depends on a device constant: kernels must be known before compiling.
std::string instantiated_name(const PlanContext& context, const KernelLaunch& launch,
                              SourcePosition at, const Scope& scope,
                              const std::vector<Buffer>& buffers);

/// Grid, block, cluster and shared memory of a launch, checked against the device and, with a
/// signature that knows them, the kernel's resources; no arguments yet. Throws PlanMistake.
LaunchStep resolve_dimensions(const PlanContext& context, const KernelLaunch& launch,
                              SourcePosition at, const Scope& scope,
                              const KernelSignature* signature);

} // namespace winnow::tasks
