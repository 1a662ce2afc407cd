#pragma once

#include "profiling/roofline/roofline.h"
#include "tasks/plan/device_facts.h"
#include "tasks/task/task.h"

#include <optional>

namespace winnow::evaluators {

/// The work of one run at one shape.
struct TaskWork {
  double read_bytes = 0;
  double written_bytes = 0;
  double operations = 0;
  /// Precision in which the operations may be done. Int where a factor of at most 8 bits allows
  /// 8-bit arithmetic.
  tasks::Precision precision = tasks::Precision::F32;
};
/// The work as the task states it. Task::bytes is the least number of bytes that must move, outputs
/// included. It can be less than the size of the inputs: a gather reads only a part of them.
TaskWork stated_work(const tasks::Task& task, const tasks::Shape& shape);
/// What no kernel can do without. The operations of a PyTorch module do not count: a kernel may
/// need fewer. The sum over the columns of a product needs no product, and zeros of a triangle no
/// work.
TaskWork least_work(const tasks::Task& task, const tasks::Shape& shape);

using profiling::PhysicalFloor;

/// The shortest time in which a device can do the work.
///
/// NVIDIA GPUs: a cold run reads its bytes from DRAM. Of the bytes that it writes, as many as the
/// L2 cache holds may stay there. Operations run at the dense tensor rate of their precision. f32
/// may be done by three f16 products (split factors), f64 by fifteen. A peak is the larger of the
/// driver's value and the one in `measured`.
///
/// Other GPUs: four times the memory's peak, because a cache that no driver reports may hold all
/// data.
///
/// CPU: 128 bytes and 64 operations per cycle and core at 6 GHz, because caches may hold the
/// inputs.
PhysicalFloor physical_floor(const TaskWork& work, const tasks::DeviceFacts& facts,
                             const std::optional<profiling::Ceilings>& measured);

/// A time below this share of the floor is implausible. The remaining 3 % allow for clock errors.
constexpr double kFloorMargin = 0.97;

} // namespace winnow::evaluators
