#pragma once

#include "profiling/roofline/roofline.h"
#include "tasks/plan/device_facts.h"
#include "tasks/task.h"

#include <optional>

namespace winnow::evaluators {

/// What every kernel of a task has to do in one run at one shape.
struct LeastWork {
  double read_bytes = 0;
  double written_bytes = 0;
  double operations = 0;
  /// In which they may be done: Int where a factor of 8 bits or fewer allows 8-bit arithmetic.
  tasks::Precision precision = tasks::Precision::F32;
};
/// Task::bytes is the least that moves (a gather reads less than its inputs have), outputs
/// included.
LeastWork least_work(const tasks::Task& task, const tasks::Shape& shape);

using profiling::PhysicalFloor;

/// On an NVIDIA GPU a cold run reads its bytes from DRAM; of what it writes, as much as the L2
/// cache holds may stay there. Operations run at the dense tensor rate of their precision: f32 may
/// be done by three f16 products (split factors), f64 by fifteen. The peaks are those of the
/// driver's facts or `measured`, whichever is larger. Other GPUs: four times the memory's peak,
/// since caches that no driver reports may hold everything. A cpu: 128 bytes and 64 operations a
/// cycle and core at 6 GHz, since caches may hold its inputs.
PhysicalFloor physical_floor(const LeastWork& work, const tasks::DeviceFacts& facts,
                             const std::optional<profiling::Ceilings>& measured);

/// A time below this share of the floor is implausible; the rest is for the error of clocks.
constexpr double kFloorMargin = 0.97;

} // namespace winnow::evaluators
