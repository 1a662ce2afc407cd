#pragma once

#include "tasks/plan/plan_context.h"

#include <vector>

namespace winnow::tasks {

/// Checks that every name in every expression of the plan is known where it stands, also in parts
/// that this shape does not reach, that no name hides another, and that `prepare` names every kept
/// buffer. Throws PlanMistake.
void check_names(const PlanContext& context, const Scope& scope,
                 const std::vector<Buffer>& buffers);

} // namespace winnow::tasks
