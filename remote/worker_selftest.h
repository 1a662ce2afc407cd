#pragma once

#include "evaluators/evaluation/evaluations.h"

#include <cstddef>
#include <string>

namespace winnow::remote {

/// Lets the devices, of this kind and so many, judge the task's baseline, and then the same with
/// kernels that return at once. Throws Error, with the device and the verdict, unless each baseline
/// is right and each of the others wrong: a machine that judges wrongly takes no jobs.
void require_right_verdicts(const evaluators::EvaluationsFactory& devices, std::size_t count,
                            const std::string& kind, tasks::Task task);

} // namespace winnow::remote
