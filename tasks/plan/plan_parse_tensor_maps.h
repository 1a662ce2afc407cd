#pragma once

#include "tasks/plan/plan_reader.h"

#include <vector>

namespace winnow::tasks {

/// Parses "tensor_maps" of the plan, if present, and declares their names.
std::vector<TensorMap> parse_tensor_maps(PlanReader& reader, const JsonValue& plan);

} // namespace winnow::tasks
