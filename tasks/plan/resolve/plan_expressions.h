#pragma once

#include "tasks/plan/plan.h"

#include <vector>

/// Walks over the expressions of a launch plan. The pointers are valid as long as the plan is.
namespace winnow::tasks {

/// All expressions but device constants: of `let`, scratch, tensor maps, prepare and launches.
std::vector<const PlanExpression*> expressions_of(const Plan& plan);

/// The bindings in an order in which each one uses only earlier ones.
std::vector<const LetBinding*> in_order_of_use(const std::vector<LetBinding>& bindings);

} // namespace winnow::tasks
