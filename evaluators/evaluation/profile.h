#pragma once

#include "profiling/power/energy.h"
#include "profiling/roofline/feedback.h"
#include "tasks/result/evaluation.h"

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::evaluators {

/// How a kernel's launches fill the device at one shape; of the launch with most threads.
struct LaunchFacts {
  std::string kernel;
  std::int64_t launches = 0; ///< of all kernels in one run of the plan
  double blocks = 0;
  double threads_per_block = 0;
  std::optional<std::int64_t> registers; ///< per thread; GPU code only, as below
  std::optional<double> shared_bytes;    ///< per block, static and dynamic
  std::optional<double> occupancy;       ///< 0 to 1: resident warps of those that fit, in theory
  std::optional<double> blocks_per_multiprocessor; ///< resident at once, in theory
};

/// What is known of one kernel at one search shape: `shape` has time, speed of light, limiter and
/// counters.
struct ProfiledShape {
  std::string shape_id; ///< "search/1"
  profiling::ShapeProfile shape;
  LaunchFacts launch;
  profiling::Energy energy;
};

/// The form of Evaluation::profile.
void to_json(nlohmann::json& json, const ProfiledShape& shape);
/// Throws nlohmann exceptions.
void from_json(const nlohmann::json& json, ProfiledShape& shape);
/// Evaluation::profile; empty when it is.
std::vector<ProfiledShape> profile_of(const tasks::Evaluation& evaluation);

} // namespace winnow::evaluators
