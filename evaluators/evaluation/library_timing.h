#pragma once

#include "evaluators/evaluation/task_on_device.h"
#include "evaluators/messages/protocol.h"
#include "tasks/result/evaluation.h"

#include <cstdint>
#include <vector>

namespace winnow::evaluators {

/// The task's library baselines at one shape, on the inputs of `seed`. They are judged and timed
/// once per TaskOnDevice, in the worker that times the candidates. Its baseline, whose module
/// that worker loads, and the reference must be built for the shape. Empty on devices without
/// libraries. An error is part of the result.
std::vector<tasks::LibraryTiming> library_timings(TaskOnDevice& on_device,
                                                  const tasks::Shape& shape, std::uint64_t seed,
                                                  const SamplingRequest& sampling);

} // namespace winnow::evaluators
