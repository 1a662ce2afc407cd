#pragma once

#include "profiling/roofline/roofline.h"
#include "tasks/plan/device_facts.h"
#include "tasks/result/evaluation.h"
#include "tasks/task/task.h"

#include <optional>
#include <string>

namespace winnow::evaluators {

/// Sets score_ns, speedup, speedup_bounds and race from the timed cases at the search shapes.
/// `rival` is the digest of the incumbent; empty: there is none. If a time is shorter than the
/// device can be, sets nothing and returns the reason with the shape; otherwise returns an empty
/// text.
std::string score_times(tasks::Evaluation& evaluation, const tasks::Task& task,
                        const tasks::DeviceFacts& facts,
                        const std::optional<profiling::Ceilings>& ceilings,
                        const std::string& rival);

} // namespace winnow::evaluators
