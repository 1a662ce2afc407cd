#pragma once

#include "profiling/power/energy.h"
#include "profiling/roofline/feedback.h"
#include "profiling/roofline/roofline.h"
#include "tasks/result/evaluation.h"
#include "tasks/task/task.h"

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::evaluators {

struct DeviceReport;

/// How a kernel's launches fill the device at one shape; describes the launch with the most
/// threads.
struct LaunchFacts {
  std::string kernel;
  std::int64_t launches = 0; ///< launches of all kernels in one run of the plan
  double blocks = 0;
  double threads_per_block = 0;
  std::optional<std::int64_t> registers; ///< per thread; like the fields below, for GPU code only
  std::optional<double> shared_bytes;    ///< per block, static and dynamic
  /// Theoretical: resident warps / the most that can be resident, 0 to 1
  std::optional<double> occupancy;
  std::optional<double> blocks_per_multiprocessor; ///< theoretical: resident at once
};

/// The steps of a run that have one name: "attention<128>", "fill of scratch". They were timed one
/// by one, with what caches the step before left.
struct StepTime {
  std::string step;
  std::int64_t count = 0; ///< of a run
  double ns = 0;          ///< of all of them
};
/// "merge 12.0 us (2 times)"
std::string to_text(const StepTime& time);

void to_json(nlohmann::json& json, const StepTime& time);
void from_json(const nlohmann::json& json, StepTime& time);

void to_json(nlohmann::json& json, const LaunchFacts& launch);
void from_json(const nlohmann::json& json, LaunchFacts& launch);

/// The profile of one kernel at one search shape. `shape` has time, speed of light, limiter and
/// counters.
struct ProfiledShape {
  std::string shape_id; ///< "search/1"
  profiling::ShapeProfile shape;
  LaunchFacts launch;
  std::vector<StepTime> steps; ///< in order; empty: one step, or the device does not tell
  profiling::Energy energy;
};

/// The speed of light of one run at this shape, and the share of it that `time_ns` reaches. Without
/// a value, `reason` says why.
profiling::SpeedOfLightResult speed_of_light_of(const DeviceReport& device, const tasks::Task& task,
                                                const tasks::Shape& shape, double time_ns,
                                                const profiling::Ceilings& ceilings);

/// The geometric mean of these shares over the search shapes at which the evaluation has timed the
/// kernel. nullopt: not timed, or one of the shapes has no value.
std::optional<double> share_of_speed_of_light(const DeviceReport& device, const tasks::Task& task,
                                              const tasks::Evaluation& evaluation,
                                              const profiling::Ceilings& ceilings);

/// Writes one element of Evaluation::profile.
void to_json(nlohmann::json& json, const ProfiledShape& shape);
/// Throws nlohmann exceptions.
void from_json(const nlohmann::json& json, ProfiledShape& shape);
/// Parses Evaluation::profile; empty when the evaluation has none.
std::vector<ProfiledShape> profile_of(const tasks::Evaluation& evaluation);

} // namespace winnow::evaluators
