#pragma once

#include "tasks/task/task.h"

#include <cstdint>
#include <string_view>

namespace winnow::tasks {

/// The shape with other sizes along Task::varied_axes, as `draw` chooses: up to an eighth more or
/// less, or between half and twice a size below 16. A multiple of 2, 4, 8 or 16 stays one. No size
/// exceeds those of its axis at the search and promotion shapes for `device`, and the tensors have
/// no more bytes than at the largest of these. Who learns the sizes of one draw knows nothing of
/// another.
Shape varied_shape(const Task& task, std::string_view device, Shape shape, std::uint64_t draw);

} // namespace winnow::tasks
