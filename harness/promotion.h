#pragma once

#include "tasks/evaluation.h"

namespace winnow::harness {

/// What share of the incumbent's speed on hidden shapes a kernel must have to take its place.
constexpr double kHiddenSpeedShare = 0.9;

/// Whether a kernel may lead its archive: it is correct, and on hidden shapes no more than 10 %
/// slower than the incumbent, as far as both were timed there (0: not timed).
bool may_lead(const tasks::Evaluation& evaluation, double incumbent_hidden_speedup);

} // namespace winnow::harness
