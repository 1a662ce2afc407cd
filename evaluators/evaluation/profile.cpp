#include "evaluators/evaluation/profile.h"

#include "profiling/counters/counter_names.h"
#include "profiling/json_members.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::evaluators {

using nlohmann::json;

WINNOW_JSON_MEMBERS(LaunchFacts, kernel, launches, blocks, threads_per_block, registers,
                    shared_bytes, occupancy, blocks_per_multiprocessor)

WINNOW_JSON_MEMBERS(StepTime, step, count, ns)

std::string to_text(const StepTime& time) {
  return fmt::format("{} {}{}", time.step, profiling::counter_text(time.ns, "ns"),
                     time.count > 1 ? fmt::format(" ({} times)", time.count) : "");
}

void to_json(json& value, const ProfiledShape& shape) {
  value = {{"shape_id", shape.shape_id},
           {"shape", shape.shape.shape},
           {"time_ns", shape.shape.time_ns},
           {"speed_of_light", shape.shape.speed_of_light},
           {"no_speed_of_light", shape.shape.no_speed_of_light},
           {"limiters", shape.shape.findings},
           {"counters", shape.shape.counters},
           {"launch", shape.launch},
           {"steps", shape.steps},
           {"energy", shape.energy}};
}

void from_json(const json& value, ProfiledShape& shape) {
  value.at("shape_id").get_to(shape.shape_id);
  value.at("shape").get_to(shape.shape.shape);
  value.at("time_ns").get_to(shape.shape.time_ns);
  value.at("no_speed_of_light").get_to(shape.shape.no_speed_of_light);
  const json& speed = value.at("speed_of_light");
  // Without "least_ns", another version wrote the value, with another definition.
  if (!speed.is_null() && !speed.contains("least_ns")) {
    shape.shape.no_speed_of_light = "an earlier version of Winnow measured it";
  } else {
    speed.get_to(shape.shape.speed_of_light);
  }
  value.at("limiters").get_to(shape.shape.findings);
  value.at("counters").get_to(shape.shape.counters);
  value.at("launch").get_to(shape.launch);
  shape.steps = value.value("steps", std::vector<StepTime>{}); // earlier versions had none
  value.at("energy").get_to(shape.energy);
}

std::vector<ProfiledShape> profile_of(const tasks::Evaluation& evaluation) {
  return evaluation.profile.empty()
             ? std::vector<ProfiledShape>{}
             : json::parse(evaluation.profile).get<std::vector<ProfiledShape>>();
}

} // namespace winnow::evaluators
