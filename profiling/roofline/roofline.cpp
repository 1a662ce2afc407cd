#include "profiling/roofline/roofline.h"

#include "base/text.h"
#include "profiling/counters/counter_names.h"
#include "profiling/json_members.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace winnow::profiling {
namespace {

constexpr double kNsPerSecond = 1e9;

bool is_count(double value) {
  return std::isfinite(value) && value >= 0;
}

// Why the time cannot be compared; empty if it can.
std::string missing_part(const Work& work, const PhysicalFloor& floor, double time_ns) {
  if (!std::isfinite(time_ns) || time_ns <= 0) {
    return "there is no measured time";
  }
  if (!is_count(work.bytes) || !is_count(work.operations) || !is_count(floor.ns())) {
    return "the model of bytes and operations gives no number";
  }
  if (work.bytes == 0 && work.operations == 0) {
    return "the task has no model of bytes and operations";
  }
  return {};
}

void set_bound(const PhysicalFloor& floor, SpeedOfLight& speed) {
  speed.by_bytes = floor.memory_ns >= floor.arithmetic_ns;
  speed.floor_bytes = floor.bytes;
  if (speed.launch_ns.value_or(0) > floor.ns()) {
    speed.bound = "an empty launch";
    return;
  }
  speed.bound = speed.by_bytes ? floor.memory_peak : floor.arithmetic_peak;
  const double work = speed.by_bytes ? floor.bytes : speed.operations;
  speed.rate = floor.ns() > 0 ? work / floor.ns() * kNsPerSecond : 0;
}

void set_measured(const Work& work, const Ceilings& ceilings, SpeedOfLight& speed) {
  const auto copy = work.cold ? ceilings.dram() : ceilings.bandwidth_at(work.bytes);
  if (copy && work.bytes > 0) {
    speed.copy_ns =
        work.bytes / copy->bytes_per_second * kNsPerSecond + speed.launch_ns.value_or(0);
    speed.copy_level = copy->level;
  }
  if (const auto rate = ceilings.rate(work.kind); rate && work.operations > 0) {
    speed.rate_ns = work.operations / *rate * kNsPerSecond + speed.launch_ns.value_or(0);
    speed.rate_kind = work.kind;
  }
}

std::string rate_text(const SpeedOfLight& speed) {
  return speed.by_bytes ? counter_text(speed.rate, "B") + "/s"
                        : fmt::format("{:.3g} Top/s", speed.rate * 1e-12);
}

} // namespace

SpeedOfLightResult speed_of_light(const Work& work, const PhysicalFloor& floor, double time_ns,
                                  const Ceilings& ceilings) {
  if (std::string missing = missing_part(work, floor, time_ns); !missing.empty()) {
    return {std::nullopt, std::move(missing)};
  }
  SpeedOfLight speed;
  speed.launch_ns = ceilings.launch_overhead_ns;
  speed.least_ns = floor.ns() + speed.launch_ns.value_or(0);
  speed.fraction = speed.least_ns / time_ns;
  speed.bytes = work.bytes;
  speed.operations = work.operations;
  set_bound(floor, speed);
  set_measured(work, ceilings, speed);
  if (speed.fraction > 1) {
    speed.note =
        "less than the least time: the clock errs, or the kernel does less than the stated work";
  }
  return {speed, {}};
}

std::string share_text(const SpeedOfLight& speed) {
  return fmt::format("{} of the speed of light ({}{})", counter_text(100 * speed.fraction, "%"),
                     speed.bound, speed.rate > 0 ? ", " + rate_text(speed) : "");
}

std::string least_time_text(const SpeedOfLight& speed) {
  std::string text = counter_text(speed.least_ns, "ns") + ": ";
  if (!speed.by_bytes) {
    text += fmt::format("{:.3g} operations", speed.operations);
  } else if (speed.floor_bytes < speed.bytes) {
    text += fmt::format("{} of {}", counter_text(speed.floor_bytes, "B"),
                        counter_text(speed.bytes, "B"));
  } else {
    text += counter_text(speed.bytes, "B");
  }
  text += speed.rate > 0 ? " at " + speed.bound : "";
  text += speed.by_bytes && speed.floor_bytes < speed.bytes ? ", the rest may stay in L2" : "";
  return speed.launch_ns ? text + "; an empty launch of " + counter_text(*speed.launch_ns, "ns")
                         : text;
}

std::string measured_text(const SpeedOfLight& speed) {
  std::vector<std::string> parts;
  if (speed.copy_ns) {
    parts.push_back(fmt::format("a plain copy of the same {} ({}) takes {}",
                                counter_text(speed.bytes, "B"), speed.copy_level,
                                counter_text(*speed.copy_ns, "ns")));
  }
  if (speed.rate_ns && *speed.rate_ns > speed.copy_ns.value_or(0)) {
    parts.push_back(fmt::format("the operations at the measured {} rate {}", speed.rate_kind,
                                counter_text(*speed.rate_ns, "ns")));
  }
  if (speed.launch_ns) {
    parts.push_back("an empty launch " + counter_text(*speed.launch_ns, "ns"));
  }
  return join(parts, ", ");
}

WINNOW_JSON_MEMBERS(SpeedOfLight, fraction, least_ns, bound, rate, by_bytes, floor_bytes, bytes,
                    operations, launch_ns, copy_ns, copy_level, rate_ns, rate_kind, note)

} // namespace winnow::profiling
