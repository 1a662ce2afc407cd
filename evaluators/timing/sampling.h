#pragma once

#include "evaluators/worker/protocol.h"
#include "tasks/plan_resolve.h"

#include <vector>

namespace winnow::evaluators {

/// Whether one more sample is worth taking: at least min_samples (or as many as fit in four
/// budgets), then until the budget is spent or the relative standard error is below 0.2 %.
/// `samples_ns` are the ones taken so far, `spent_ns` the time that took on the clock, with
/// warm-up, poisoning, emptying caches and verifying.
bool more_samples(const SamplingRequest& request, const std::vector<double>& samples_ns,
                  double spent_ns);

/// No device with these facts does a run in less, in nanoseconds. A GPU (peak_bytes_per_second is
/// known): three times its memory's peak, because a run's last writes may end in the L2 cache, and
/// 16384 operations a cycle and multiprocessor at 2.5 GHz, above any dense matrix rate so far. A
/// cpu: 128 bytes and 64 operations a cycle and core at 6 GHz.
double physical_floor_ns(double bytes, double operations, const tasks::DeviceFacts& facts);

} // namespace winnow::evaluators
