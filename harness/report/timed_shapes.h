#pragma once

#include "tasks/result/evaluation.h"

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// The times of a kernel at a search shape, and those of its rival if it raced.
struct TimedShape {
  const tasks::CaseResult* timed = nullptr; ///< a case of the given evaluation; never nullptr
  double rival_median_ns = 0;               ///< 0: no rival
  tasks::Bounds rival_bounds_ns;            ///< 95 % bootstrap interval of rival_median_ns
  /// Median of rival time / kernel time, launch beside launch: above 1 means faster; 0: no rival.
  double ratio = 0;
  tasks::Bounds ratio_bounds; ///< 95 % bootstrap interval of `ratio`
};

/// One entry for each search shape that was timed. Hidden shapes never appear.
std::vector<TimedShape> timed_shapes(const tasks::Evaluation& evaluation);
/// The number of shapes at which the kernel is faster than its rival: the whole interval lies above
/// 1.
int faster_shapes(const std::vector<TimedShape>& shapes);

/// A case for the rival of `shape`, as if the rival had been judged: its samples and medians,
/// beside the same launches of the baseline.
tasks::CaseResult rival_case(const TimedShape& shape);

/// "45.23 us", with four digits; empty for 0.
std::string time_text(double nanoseconds);
/// "45.20 to 45.26 us"; empty if unknown.
std::string time_interval_text(const tasks::Bounds& nanoseconds);
/// "1.034x"; empty for 0.
std::string ratio_text(double ratio);
/// "1.029 to 1.039"; empty if unknown or unbounded.
std::string ratio_interval_text(const tasks::Bounds& bounds);

/// Null if nothing was measured.
nlohmann::json measured_json(double value);
nlohmann::json low_json(const tasks::Bounds& bounds);
nlohmann::json high_json(const tasks::Bounds& bounds);

/// For a kernel that is not correct: "is not correct" or "was not judged".
std::string_view why_not_measured(const tasks::Evaluation& evaluation);

/// "A is 1.034x as fast as B: 1.029 to 1.039 (99 %), 24 blocks of four launches; faster at 2 of 2
/// shapes"
std::string race_sentence(const tasks::RaceResult& race, const std::vector<TimedShape>& shapes,
                          const std::string& kernel, const std::string& rival);

} // namespace winnow::harness
