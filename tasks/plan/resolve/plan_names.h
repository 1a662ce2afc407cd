#pragma once

#include "tasks/plan/resolve/plan_context.h"

#include <vector>

namespace winnow::tasks {

/// Checks the names of a plan, also in parts that this shape does not reach. Every name in an
/// expression must be known at its place. No name may hide another. `prepare` must name every kept
/// buffer. Throws PlanMistake.
void check_names(const PlanContext& context, const Scope& scope,
                 const std::vector<Buffer>& buffers);

} // namespace winnow::tasks
