#pragma once

#include "evaluators/evaluation/session.h"
#include "evaluators/worker/protocol.h"
#include "tasks/result/evaluation.h"

#include <cstdint>
#include <vector>

namespace winnow::evaluators {

/// The task's library baselines at one shape, on the inputs of `seed`. They are judged and timed
/// once per session, in the worker that times the candidates. The session's baseline, whose module
/// that worker loads, and the reference must be built for the shape. Empty on devices without
/// libraries. An error is part of the result.
std::vector<tasks::LibraryTiming> library_timings(Session& session, const tasks::Shape& shape,
                                                  std::uint64_t seed,
                                                  const SamplingRequest& sampling);

} // namespace winnow::evaluators
