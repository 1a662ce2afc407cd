#pragma once

#include "evaluators/evaluation/task_on_device.h"

#include <vector>

namespace winnow::evaluators {

/// Times choices of a family's parameters in turns with the incumbent, at the search shapes: one
/// evaluation for each choice. No answer is judged, so the verdict of a choice that was timed is
/// NotJudged. Its samples stand beside those of the incumbent. Another verdict says why a choice
/// does not run. `turns`: launches of each choice at each shape. Throws Error if the incumbent or
/// the machine fails.
std::vector<tasks::Evaluation> time_choices(TaskOnDevice& on_device, const tasks::KernelFile& file,
                                            const std::vector<tasks::ParameterChoice>& choices,
                                            int turns);

} // namespace winnow::evaluators
