#pragma once

#include "tasks/plan/resolve/plan_buffers.h"
#include "tasks/plan/resolve/plan_context.h"
#include "tasks/plan/resolve/plan_tensor_map.h"

#include <string>
#include <vector>

namespace winnow::tasks {

struct ResolvedArguments {
  std::vector<ResolvedArgument> arguments;
  std::vector<std::string> written; ///< buffers behind a tensor map or a pointer to non-const
  std::vector<Diagnostic> warnings;
};

/// Checks the arguments of a launch against the kernel's parameters: count, kinds, ranges,
/// constness. Before compiling there is no signature; then only the values are checked. Throws
/// PlanMistake.
ResolvedArguments resolve_arguments(const PlanContext& context, const KernelLaunch& launch,
                                    SourcePosition at, const Scope& scope,
                                    const std::vector<Buffer>& buffers, TensorMaps& tensor_maps,
                                    const KernelSignature* signature);

} // namespace winnow::tasks
