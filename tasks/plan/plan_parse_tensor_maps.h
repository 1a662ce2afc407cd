#pragma once

#include "tasks/plan/plan_reader.h"

#include <vector>

namespace winnow::tasks {

/// The maps of the plan's "tensor_maps", if it has any; their names are declared.
std::vector<TensorMap> parse_tensor_maps(PlanReader& reader, const JsonValue& plan);

} // namespace winnow::tasks
