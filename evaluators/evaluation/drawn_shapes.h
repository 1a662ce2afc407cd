#pragma once

#include "tasks/task/task.h"

#include <cstdint>
#include <vector>

namespace winnow::evaluators {

/// At least half of the shapes, in their order, as `draw` chooses: half of those that only some
/// kinds of device have, because these are large, and half of the others.
std::vector<tasks::Shape> drawn_shapes(std::vector<tasks::Shape> shapes, std::uint64_t draw);

} // namespace winnow::evaluators
