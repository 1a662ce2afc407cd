#pragma once

#include "profiling/counters/counter_report.h"
#include "profiling/roofline/limiter.h"
#include "profiling/roofline/roofline.h"

#include <optional>
#include <string>
#include <vector>

namespace winnow::profiling {

/// What one shape's profile says about one kernel.
struct ShapeProfile {
  std::string shape;                          ///< "m=4096 n=4096"
  std::optional<double> time_ns;              ///< median
  std::optional<SpeedOfLight> speed_of_light; ///< else `no_speed_of_light` says why
  std::string no_speed_of_light;
  std::vector<LimiterFinding> findings; ///< of limiter_of(), most telling first
  CounterReport counters;
};

constexpr std::size_t kFeedbackLines = 24;
constexpr std::size_t kFeedbackColumns = 100; ///< bytes of a line
constexpr double kChangedPct = 5;             ///< smaller changes of a value are not told

/// For a model, at most kFeedbackLines lines: every shape's time, speed of light, what a plain copy
/// and an empty launch take, limiter, the counters behind it, and what of these changed against the
/// parent's profile of the same shape (old -> new). Shapes in the order given; of those that find
/// no room only the number is told. The same input always gives the same text. `same_machine_code`:
/// the parent compiled to it.
std::string limiter_feedback(const std::vector<ShapeProfile>& profiles,
                             const std::vector<ShapeProfile>& parent = {},
                             bool same_machine_code = false);

} // namespace winnow::profiling
