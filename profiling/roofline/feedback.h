#pragma once

#include "profiling/counters/counter_report.h"
#include "profiling/roofline/limiter.h"
#include "profiling/roofline/roofline.h"

#include <optional>
#include <string>
#include <vector>

namespace winnow::profiling {

/// The profile of one kernel at one shape.
struct ShapeProfile {
  std::string shape;                          ///< "m=4096 n=4096"
  std::optional<double> time_ns;              ///< median
  std::optional<SpeedOfLight> speed_of_light; ///< if empty, `no_speed_of_light` has the reason
  std::string no_speed_of_light;
  std::vector<LimiterFinding> findings; ///< from limiter_of(), most telling first
  CounterReport counters;
};

constexpr std::size_t kFeedbackLines = 32;
constexpr std::size_t kFeedbackColumns = 100; ///< bytes of a line
constexpr double kChangedPct = 5;             ///< smaller changes of a value are not reported

/// The feedback for a model: at most kFeedbackLines lines. For every shape: time, speed of light,
/// the times of a plain copy and an empty launch, the limiter with its counters, how busy each unit
/// is, what warps wait for, and the changes
/// from the parent's profile of the same shape (old -> new). Shapes keep the given order; if there
/// is no room for all, a line gives the number of the others. The same input gives the same text.
/// `same_machine_code`: the parent compiled to the same machine code.
std::string limiter_feedback(const std::vector<ShapeProfile>& profiles,
                             const std::vector<ShapeProfile>& parent = {},
                             bool same_machine_code = false);

} // namespace winnow::profiling
