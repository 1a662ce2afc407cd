#pragma once

#include "tasks/plan/resolve/plan_context.h"

#include <string>
#include <vector>

namespace winnow::tasks {

/// The kernel's name with {NAME} and {dtype:buffer} replaced. Throws PlanMistake. A device constant
/// in the name is a mistake, because the names must be known before compiling.
std::string instantiated_name(const PlanContext& context, const KernelLaunch& launch,
                              SourcePosition at, const Scope& scope,
                              const std::vector<Buffer>& buffers);

/// Grid, block, cluster and shared memory of a launch, without arguments. Checked against the
/// device and, if the signature has them, against the kernel's resources. Throws PlanMistake.
LaunchStep resolve_dimensions(const PlanContext& context, const KernelLaunch& launch,
                              SourcePosition at, const Scope& scope,
                              const KernelSignature* signature);

} // namespace winnow::tasks
