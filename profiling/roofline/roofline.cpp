#include "profiling/roofline/roofline.h"

#include "profiling/power/optional_json.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace winnow::profiling {
namespace {

constexpr double kNsPerSecond = 1e9;

SpeedOfLightResult no_speed_of_light(std::string reason) {
  return {std::nullopt, std::move(reason)};
}

bool is_count(double value) {
  return std::isfinite(value) && value >= 0;
}

// Why there is nothing to compare the time with; empty: there is.
std::string missing_part(const Work& work, double time_ns) {
  if (!std::isfinite(time_ns) || time_ns <= 0) {
    return "there is no time";
  }
  if (!is_count(work.bytes) || !is_count(work.operations) || !is_count(work.working_set)) {
    return "the model of bytes and operations gives no number";
  }
  if (work.bytes == 0 && (work.operations == 0 || work.kind.empty())) {
    return "the task has no model of bytes and operations";
  }
  return {};
}

std::optional<BandwidthPoint> bandwidth_for(const Work& work, const Ceilings& ceilings) {
  if (!work.warm) {
    return ceilings.dram();
  }
  return ceilings.bandwidth_at(work.working_set > 0 ? work.working_set : work.bytes);
}

std::string no_rate(const Work& work, const Ceilings& ceilings) {
  const auto known = ceilings.no_rate.find(work.kind);
  return fmt::format("the rate of {} was not measured{}{}", work.kind,
                     known != ceilings.no_rate.end() ? ": " : "",
                     known != ceilings.no_rate.end() ? known->second : "");
}

std::string note_of(const SpeedOfLight& speed, const Work& work) {
  if (speed.fraction <= 1) {
    return {};
  }
  if (!speed.by_bytes) {
    return "faster than the measured rate: it does fewer operations than counted, or on other "
           "units";
  }
  return work.warm ? "faster than the measured bandwidth: it moves fewer bytes than counted, or "
                     "caches nearer to it hold them"
                   : "faster than the measured bandwidth: it moves fewer bytes than counted, or "
                     "caches hold what it writes";
}

} // namespace

SpeedOfLightResult speed_of_light(const Work& work, double time_ns, const Ceilings& ceilings) {
  if (std::string missing = missing_part(work, time_ns); !missing.empty()) {
    return no_speed_of_light(std::move(missing));
  }
  const bool counts_operations = work.operations > 0 && !work.kind.empty();
  const double rate = counts_operations ? ceilings.rate(work.kind).value_or(0) : 0;
  const std::optional<BandwidthPoint> bandwidth = bandwidth_for(work, ceilings);
  if (counts_operations && rate <= 0) {
    return no_speed_of_light(no_rate(work, ceilings));
  }
  if (work.bytes > 0 && !bandwidth) {
    return no_speed_of_light(work.warm ? "no bandwidth was measured"
                                       : "the bandwidth of DRAM was not measured");
  }
  const double bytes_ns =
      work.bytes > 0 ? work.bytes / bandwidth->bytes_per_second * kNsPerSecond : 0;
  const double operations_ns = rate > 0 ? work.operations / rate * kNsPerSecond : 0;
  SpeedOfLight speed;
  speed.by_bytes = bytes_ns >= operations_ns;
  speed.floor_ns = std::max(bytes_ns, operations_ns);
  speed.fraction = speed.floor_ns / time_ns;
  speed.bound = speed.by_bytes ? bandwidth->level + " bandwidth" : work.kind + " rate";
  speed.bytes = work.bytes;
  speed.operations = work.operations;
  if (work.bytes > 0) {
    speed.intensity = work.operations / work.bytes;
  }
  if (rate > 0 && bandwidth) {
    speed.ridge = rate / bandwidth->bytes_per_second;
  }
  speed.note = note_of(speed, work);
  return {speed, {}};
}

void to_json(nlohmann::json& json, const SpeedOfLight& speed) {
  json = {{"fraction", speed.fraction},
          {"bound", speed.bound},
          {"by_bytes", speed.by_bytes},
          {"floor_ns", speed.floor_ns},
          {"bytes", speed.bytes},
          {"operations", speed.operations},
          {"intensity", json_of(speed.intensity)},
          {"ridge", json_of(speed.ridge)},
          {"note", speed.note}};
}

void from_json(const nlohmann::json& json, SpeedOfLight& speed) {
  json.at("fraction").get_to(speed.fraction);
  json.at("bound").get_to(speed.bound);
  json.at("by_bytes").get_to(speed.by_bytes);
  json.at("floor_ns").get_to(speed.floor_ns);
  json.at("bytes").get_to(speed.bytes);
  json.at("operations").get_to(speed.operations);
  speed.intensity = optional_value<double>(json, "intensity");
  speed.ridge = optional_value<double>(json, "ridge");
  json.at("note").get_to(speed.note);
}

} // namespace winnow::profiling
