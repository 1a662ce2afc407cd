#include "evaluators/evaluation/profile.h"

#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

using nlohmann::json;

template <class T> json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

template <class T> std::optional<T> optional_of(const json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<T>());
}

json launch_json(const LaunchFacts& launch) {
  return {{"kernel", launch.kernel},
          {"launches", launch.launches},
          {"blocks", launch.blocks},
          {"threads_per_block", launch.threads_per_block},
          {"registers", or_null(launch.registers)},
          {"shared_bytes", or_null(launch.shared_bytes)},
          {"occupancy", or_null(launch.occupancy)},
          {"blocks_per_multiprocessor", or_null(launch.blocks_per_multiprocessor)}};
}

LaunchFacts launch_of(const json& value) {
  LaunchFacts launch;
  launch.kernel = value.at("kernel");
  launch.launches = value.at("launches");
  launch.blocks = value.at("blocks");
  launch.threads_per_block = value.at("threads_per_block");
  launch.registers = optional_of<std::int64_t>(value.at("registers"));
  launch.shared_bytes = optional_of<double>(value.at("shared_bytes"));
  launch.occupancy = optional_of<double>(value.at("occupancy"));
  launch.blocks_per_multiprocessor = optional_of<double>(value.at("blocks_per_multiprocessor"));
  return launch;
}

} // namespace

void to_json(json& value, const ProfiledShape& shape) {
  value = {{"shape_id", shape.shape_id},
           {"shape", shape.shape.shape},
           {"time_ns", or_null(shape.shape.time_ns)},
           {"speed_of_light", or_null(shape.shape.speed_of_light)},
           {"no_speed_of_light", shape.shape.no_speed_of_light},
           {"limiters", shape.shape.findings},
           {"counters", shape.shape.counters},
           {"launch", launch_json(shape.launch)},
           {"energy", shape.energy}};
}

void from_json(const json& value, ProfiledShape& shape) {
  value.at("shape_id").get_to(shape.shape_id);
  value.at("shape").get_to(shape.shape.shape);
  shape.shape.time_ns = optional_of<double>(value.at("time_ns"));
  value.at("no_speed_of_light").get_to(shape.shape.no_speed_of_light);
  const json& speed = value.at("speed_of_light");
  // Without "least_ns", another version wrote the value, with another definition.
  if (!speed.is_null() && !speed.contains("least_ns")) {
    shape.shape.no_speed_of_light = "an earlier version of Winnow measured it";
  } else {
    shape.shape.speed_of_light = optional_of<profiling::SpeedOfLight>(speed);
  }
  value.at("limiters").get_to(shape.shape.findings);
  value.at("counters").get_to(shape.shape.counters);
  shape.launch = launch_of(value.at("launch"));
  value.at("energy").get_to(shape.energy);
}

std::vector<ProfiledShape> profile_of(const tasks::Evaluation& evaluation) {
  return evaluation.profile.empty()
             ? std::vector<ProfiledShape>{}
             : json::parse(evaluation.profile).get<std::vector<ProfiledShape>>();
}

} // namespace winnow::evaluators
