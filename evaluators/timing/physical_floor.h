#pragma once

#include "tasks/plan_resolve.h"

namespace winnow::evaluators {

/// No device with these facts does a run in less, in nanoseconds. A GPU (peak_bytes_per_second is
/// known): three times its memory's peak, because a run's last writes may end in the L2 cache, and
/// 16384 operations a cycle and multiprocessor at 2.5 GHz, above any dense matrix rate so far. A
/// cpu: 128 bytes and 64 operations a cycle and core at 6 GHz.
double physical_floor_ns(double bytes, double operations, const tasks::DeviceFacts& facts);

} // namespace winnow::evaluators
