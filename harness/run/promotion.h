#pragma once

#include "harness/judging/judge.h"
#include "harness/run/strategy.h"
#include "tasks/result/evaluation.h"

namespace winnow::harness {

/// What share of the incumbent's speed on hidden shapes a kernel must have to take its place.
constexpr double kHiddenSpeedShare = 0.9;

/// Whether an evaluation stands for its kernel in the search: correct, promoted, and made by this
/// evaluator (a resumed run may have begun under an earlier one, whose times are compared with
/// nothing). One that boards do not rank counts: where a seed is given it is given to all.
bool is_contender(const tasks::Evaluation& evaluation);
/// Whether a kernel is faster than the incumbent outside the noise: it won a race against it, or,
/// where there was none, their speedups' intervals do not overlap. Against the baseline alone
/// (`incumbent` is nullptr) its own interval must lie above 1.
bool beats(const PastAttempt& attempt, const PastAttempt* incumbent);
/// The attempt that the next one of its chain races against: the last one that beat the leader
/// before it, the first of which beat the baseline; nullptr: none did. Attempts of a chain come one
/// after another. So who leads, and what races against whom, does not depend on the order in which
/// calls of different chains are answered, and is the same after a crash.
const PastAttempt* leader_of(const Chain& chain);
/// As a judge is told what to race against.
KernelToBeat kernel_of(const PastAttempt& attempt);

/// Whether a kernel may lead its archive: it is correct, and on hidden shapes no more than 10 %
/// slower than the incumbent. Where both took turns there, their ratio counts; else the speedups of
/// both against the baseline, which were measured at different times and may differ by what else
/// the machine did (0: not timed). `incumbent` is nullptr for the baseline.
bool may_lead(const tasks::Evaluation& evaluation, const PastAttempt* incumbent);

} // namespace winnow::harness
