#pragma once

#include "evaluators/worker/protocol.h"
#include "tasks/result/evaluation.h"

#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// Takes samples, conditions, medians and their bounds over from a worker's report. The first of
/// its rivals is the baseline, the second the incumbent.
void take_samples(const RunCaseReport& report, tasks::CaseResult& timed);

/// 95 % interval of the geometric mean of the speedups at the shapes of this stage, each as exact
/// as its own; not known when one of them is not.
tasks::Bounds bounds_of_speedup(const std::vector<tasks::CaseResult>& cases, tasks::Stage stage);

/// The race over the search shapes, from the samples that were taken side by side; nullopt when
/// the incumbent was not timed.
std::optional<tasks::RaceResult> race_of(const std::vector<tasks::CaseResult>& cases,
                                         const std::string& rival);

} // namespace winnow::evaluators
