#pragma once

#include "tasks/result/evaluation.h"

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// A kernel at a search shape, timed beside the one it races against, if there is one.
struct TimedShape {
  const tasks::CaseResult* timed = nullptr; ///< of the evaluation that was asked; never nullptr
  double rival_median_ns = 0;               ///< 0: no rival
  tasks::Bounds rival_bounds_ns;            ///< 95 % bootstrap interval of that median
  double ratio = 0; ///< median of rival / kernel, launch beside launch: above 1 is faster; 0: none
  tasks::Bounds ratio_bounds; ///< 95 % bootstrap interval of it
};

/// One for each search shape that was timed. Hidden shapes are never among them.
std::vector<TimedShape> timed_shapes(const tasks::Evaluation& evaluation);
/// How many shapes the kernel is faster at than its rival, by intervals.
int faster_shapes(const std::vector<TimedShape>& shapes);

/// The rival of `shape` as if it had been the one that was judged: its samples and medians beside
/// the same launches of the baseline.
tasks::CaseResult rival_case(const TimedShape& shape);

/// "45.23 us", four digits; empty for 0.
std::string time_text(double nanoseconds);
/// "45.20 to 45.26 us"; empty when not known.
std::string time_interval_text(const tasks::Bounds& nanoseconds);
/// "1.034x"; empty for 0.
std::string ratio_text(double ratio);
/// "1.029 to 1.039"; empty when not known or without end.
std::string ratio_interval_text(const tasks::Bounds& bounds);

/// Null where nothing was measured.
nlohmann::json measured_json(double value);
nlohmann::json low_json(const tasks::Bounds& bounds);
nlohmann::json high_json(const tasks::Bounds& bounds);

/// Of a kernel that is not correct: "is not correct", or "was not judged".
std::string_view why_not_measured(const tasks::Evaluation& evaluation);

/// "A is 1.034x as fast as B: 1.029 to 1.039 (99 %), 24 blocks of four launches; faster at 2 of 2
/// shapes"
std::string race_sentence(const tasks::RaceResult& race, const std::vector<TimedShape>& shapes,
                          const std::string& kernel, const std::string& rival);

} // namespace winnow::harness
