#pragma once

#include "evaluators/worker/protocol.h"

#include <vector>

namespace winnow::evaluators {

/// Whether one more sample is worth taking: at least min_samples (or as many as fit in four
/// budgets), then until the budget is spent or the relative standard error is below 0.2 %.
/// `samples_ns` are the ones taken so far, `spent_ns` the time that took, warm-up included.
bool more_samples(const SamplingRequest& request, const std::vector<double>& samples_ns,
                  double spent_ns);

/// No machine of `cores` cores does a run in less: 128 bytes and 64 operations a cycle and core at
/// 6 GHz, above what any x86-64 or Arm core has. Nanoseconds.
double physical_floor_ns(double bytes, double operations, unsigned cores);

} // namespace winnow::evaluators
