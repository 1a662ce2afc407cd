#include "evaluators/selftest/memory_need.h"

#include "base/error.h"
#include "tasks/shared_need.h"
#include "tasks/task/task_places.h"

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

constexpr double kGib = 1U << 30U;

double tensors_gib(const tasks::Task& view, const tasks::Shape& shape) {
  double bytes = 0;
  for (const tasks::TensorSpec& tensor : view.tensors) {
    bytes += tasks::tensor_bytes(tensor, shape);
  }
  return bytes / kGib;
}

} // namespace

void require_memory(const tasks::Task& task, std::string_view device_kind,
                    const tasks::DeviceFacts& facts, std::string_view device) {
  using enum tasks::ShapeSet;
  const tasks::Task view = tasks::reference_view(task);
  const double available = static_cast<double>(facts.memory_bytes) / kGib;
  for (const tasks::ShapeSet set : {Tiny, Search, Promotion, HeldOut}) {
    for (const tasks::Shape& shape : task.shapes_of(set, device_kind)) {
      if (const double needed = tensors_gib(view, shape); needed > available) {
        throw UsageError(
            fmt::format("{}: {} ({}) needs {:.3g} GiB for the tensors of reference.cu, but {:.3g} "
                        "GiB are available on {}",
                        tasks::place_of_shape(task, shape), shape.id, to_string(shape), needed,
                        available, device),
            "state smaller sizes, or name other `devices` for the shape");
      }
      if (!task.torch) { // else the question to PyTorch tells what it needs
        tasks::require_shared(task, shape, tasks::selftest_bytes(task, shape), tasks::kSharedBytes,
                              "its inputs and the reference's answers");
      }
    }
  }
}

} // namespace winnow::evaluators
