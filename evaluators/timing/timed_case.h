#pragma once

#include "evaluators/messages/protocol.h"
#include "tasks/result/evaluation.h"

#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// Copies samples and conditions from a worker's report and computes medians and their bounds. The
/// first rival in the report is the baseline, the second the incumbent.
void take_samples(const RunCaseReport& report, tasks::CaseResult& timed);

/// Computes from the samples all that follows from them: summarise_times(), and the summary in the
/// conditions.
void summarise_samples(tasks::CaseResult& timed);
/// Computes from the samples the medians, the speedup, and their bounds.
void summarise_times(tasks::CaseResult& timed);

/// Computes the speedup again, for a baseline that was timed by itself: the ratio of the medians,
/// whose errors are independent.
void compare_medians(tasks::CaseResult& timed);

/// 95 % interval of the geometric mean of the speedups at this stage's shapes, computed from the
/// interval of each shape. Not known if the interval of one shape is not known.
tasks::Bounds bounds_of_speedup(const std::vector<tasks::CaseResult>& cases, tasks::Stage stage);

/// The race over the search shapes, from samples of the same turns; nullopt when the incumbent was
/// not timed. Its ratio is known only if each shape got a block.
std::optional<tasks::RaceResult> race_of(const std::vector<tasks::CaseResult>& cases,
                                         const std::string& rival);

/// The part of that race at the shape of one case. The mean of the ratios of all shapes is the
/// ratio of the whole race.
std::optional<tasks::RaceResult> race_at(const tasks::CaseResult& timed, const std::string& rival);

} // namespace winnow::evaluators
