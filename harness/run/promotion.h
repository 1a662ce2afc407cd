#pragma once

#include "harness/judging/judge.h"
#include "harness/run/strategy.h"
#include "tasks/result/evaluation.h"

namespace winnow::harness {

/// To replace the incumbent, a kernel must reach at least this share of the incumbent's speed on
/// hidden shapes.
constexpr double kHiddenSpeedShare = 0.9;

/// Whether an evaluation counts in the search: correct, promoted, and made by this version of the
/// evaluator. A resumed run may have begun with an earlier version, whose times are not comparable.
/// An evaluation that boards do not rank counts too: a given seed holds for all kernels of the run.
bool is_contender(const tasks::Evaluation& evaluation);
/// Whether a kernel is faster than the incumbent beyond the noise. It must have won a race against
/// the incumbent; if there was no race, the intervals of their speedups must not overlap. Without
/// an incumbent (nullptr) the kernel's own interval must lie above 1, the speed of the baseline.
bool beats(const PastAttempt& attempt, const PastAttempt* incumbent);
/// The attempt that the next attempt of this chain races against: the newest one that beat the
/// leader before it. The first leader must beat the baseline. nullptr: no attempt did. The attempts
/// of a chain come one after another, so the leader and all races do not depend on the order in
/// which calls of different chains are answered, and are the same after a crash.
const PastAttempt* leader_of(const Chain& chain);
/// The attempt in the form that a judge takes for a race.
KernelToBeat kernel_of(const PastAttempt& attempt);

/// Whether a kernel may become the leader of its chain. It must be correct and on hidden shapes at
/// most 10 % slower than the incumbent. If both were timed in turns on hidden shapes, the ratio of
/// that race counts. Otherwise their speedups against the baseline are compared; these were
/// measured at different times, so the load of the machine can differ. A speedup of 0 means not
/// timed. `incumbent`: nullptr stands for the baseline.
bool may_lead(const tasks::Evaluation& evaluation, const PastAttempt* incumbent);

} // namespace winnow::harness
