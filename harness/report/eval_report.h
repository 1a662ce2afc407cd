#pragma once

#include "tasks/result/evaluation.h"

#include <string>
#include <vector>

namespace winnow::harness {

/// An evaluation for users: a line for each case, the verdict, the reason and notes. Of hidden
/// shapes only the verdict appears.
std::string eval_text(const tasks::Evaluation& evaluation);
/// The device, the seed and the duration in `seconds`. If boards do not rank the evaluation, a
/// second line says so.
std::string circumstances_text(const tasks::Evaluation& evaluation, double seconds);

} // namespace winnow::harness
