#pragma once

#include "base/text/number_text.h"
#include "tasks/result/evaluation.h"
#include "tasks/result/speedup.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// The times of a kernel at a search shape, and those of its rival if it raced.
struct TimedShape {
  tasks::CaseResult timed;
  /// The rival's times, as if the rival had been judged, beside the same launches of the baseline.
  std::optional<tasks::CaseResult> rival;
  /// The race at this shape: rival time / kernel time, above 1 means faster; 0: no rival. The
  /// geometric mean over the shapes is the ratio of the race.
  double ratio = 0;
  tasks::Bounds ratio_bounds; ///< 99 %, as that of a race
};

/// One entry for each search shape that was timed. Hidden shapes never appear. `versus`:
/// tasks::speedup_versus() of the task.
std::vector<TimedShape> timed_shapes(const tasks::Evaluation& evaluation, std::string_view versus);
/// The rival's speedup in the session of these shapes. Without a rival nothing is known.
tasks::Speedup speedup_of_rival(const std::vector<TimedShape>& shapes);

/// "45.20 to 45.26 us"; empty if unknown.
std::string time_interval_text(const tasks::Bounds& nanoseconds);
/// "1.034x"; empty for 0.
std::string ratio_text(double ratio);
/// A bound of a ratio: one that is not 1 does not read as 1, because whether an interval holds 1
/// decides a race.
std::string bound_text(double ratio);
/// "1.029 to 1.039"; empty if unknown.
std::string ratio_interval_text(const tasks::Bounds& bounds);

/// Null if nothing was measured.
nlohmann::json measured_json(double value);
/// Sets three members: NAME, NAME_low and NAME_high, each followed by `unit`. They are null if
/// nothing was measured or the interval has no end.
void put_measured(nlohmann::json& document, const std::string& name, const std::string& unit,
                  double value, const tasks::Bounds& bounds);

/// Sets the speedup of a rival's document to the one in the session of both kernels, if it is
/// known. Members with `alone_speedup` in their names keep the one of its own evaluation.
void put_speedup_beside(nlohmann::json& rival, const std::vector<TimedShape>& shapes);

/// "A is 1.034x as fast as B: 1.029 to 1.039 (99 %), 24 blocks of four launches; faster at 2 of 2
/// shapes". `shapes`: the list of a document whose members have "ratio_low".
std::string race_sentence(const tasks::RaceResult& race, const nlohmann::json& shapes,
                          const std::string& kernel, const std::string& rival);
/// The number of `shapes` at which the kernel is faster than its rival: the whole interval lies
/// above 1.
std::int64_t faster_shapes(const nlohmann::json& shapes);

} // namespace winnow::harness
