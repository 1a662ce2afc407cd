#pragma once

#include "tasks/plan/plan_buffers.h"
#include "tasks/plan/plan_context.h"
#include "tasks/plan/plan_tensor_map.h"

#include <string>
#include <vector>

namespace winnow::tasks {

struct ResolvedArguments {
  std::vector<ResolvedArgument> arguments;
  std::vector<std::string> written; ///< by a tensor map or a pointer that is not to const
  std::vector<Diagnostic> warnings;
};

/// Matches the arguments of a launch with the kernel's parameters: count, kinds, ranges, constness.
/// Without a signature (not compiled yet) the values are still checked. Throws PlanMistake.
ResolvedArguments resolve_arguments(const PlanContext& context, const KernelLaunch& launch,
                                    SourcePosition at, const Scope& scope,
                                    const std::vector<Buffer>& buffers, TensorMaps& tensor_maps,
                                    const KernelSignature* signature);

} // namespace winnow::tasks
