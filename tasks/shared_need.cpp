#include "tasks/shared_need.h"

#include "base/error.h"
#include "tasks/task/task_places.h"

#include <fmt/format.h>

namespace winnow::tasks {

std::uint64_t selftest_bytes(const Task& task, const Shape& shape) {
  std::uint64_t bytes = 0;
  for (const TensorSpec& tensor : task.tensors) {
    const auto count = static_cast<std::uint64_t>(element_count(tensor, shape));
    const std::uint64_t stored = count * size_bytes(tensor.dtype), as_double = 8 * count;
    const bool is_float = is_floating(tensor.dtype);
    if (tensor.role != Role::Output) {
      bytes += tensor.role == Role::InOut && is_float ? as_double : stored;
    }
    if (tensor.role != Role::Input) {
      bytes += is_float ? 2 * as_double : stored;
    }
  }
  return bytes;
}

std::string why_too_large(const Shape& shape, std::uint64_t needed, std::uint64_t available,
                          std::string_view tensors) {
  return fmt::format("{} ({}) needs {} bytes for {}, but Winnow's processes share {}", shape.id,
                     to_string(shape), needed, tensors, available);
}

void require_shared(const Task& task, const Shape& shape, std::uint64_t needed,
                    std::uint64_t available, std::string_view tensors) {
  if (needed > available) {
    throw UsageError(fmt::format("{}: {}: {}", place_of_shape(task, shape), task.name,
                                 why_too_large(shape, needed, available, tensors)),
                     "state smaller sizes for this shape in task.toml");
  }
}

} // namespace winnow::tasks
