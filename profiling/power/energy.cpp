#include "profiling/power/energy.h"

#include "profiling/json_members.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace winnow::profiling {
namespace {

constexpr std::size_t kLeastPowerSamples = 5;
constexpr double kLeastCovered = 0.5; ///< smallest part of the time that may stand for all of it

double seconds_of(const EnergyReadings& readings) {
  return readings.end_s - readings.begin_s;
}

/// Watts with their source, or the reason why there are none.
struct Power {
  std::optional<double> watts;
  std::string from;
  std::string why;
};

std::vector<Reading> usable(const std::vector<Reading>& readings) {
  std::vector<Reading> kept;
  for (const Reading& reading : readings) {
    if (std::isfinite(reading.at_s) && std::isfinite(reading.value) && reading.value >= 0) {
      kept.push_back(reading);
    }
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const Reading& a, const Reading& b) { return a.at_s < b.at_s; });
  return kept;
}

// The readings directly after a step of the total, while launches ran.
std::vector<Reading> steps_of(const std::vector<Reading>& total, const EnergyReadings& readings) {
  std::vector<Reading> steps;
  for (std::size_t i = 1; i < total.size(); ++i) {
    const bool running = total[i - 1].at_s >= readings.begin_s && total[i].at_s <= readings.end_s;
    if (running && total[i].value > total[i - 1].value) {
      steps.push_back(total[i]);
    }
  }
  return steps;
}

bool falls(const std::vector<Reading>& total) {
  return std::adjacent_find(total.begin(), total.end(), [](const Reading& a, const Reading& b) {
           return b.value < a.value;
         }) != total.end();
}

constexpr double kJoulesPerMillijoule = 1e-3;

Power power_of_total(const EnergyReadings& readings) {
  const std::vector<Reading> total = usable(readings.energy_mj);
  const char* const name = "NVML total energy";
  if (total.size() < 2 || total.front().at_s > readings.begin_s ||
      total.back().at_s < readings.end_s) {
    return {{}, {}, fmt::format("{} was not read before and after the launches", name)};
  }
  if (falls(total)) {
    return {{}, {}, fmt::format("{} went backwards", name)};
  }
  if (total.back().value <= total.front().value) {
    return {{}, {}, fmt::format("{} did not move in {:.2f} s", name, seconds_of(readings))};
  }
  const std::vector<Reading> steps = steps_of(total, readings);
  if (steps.size() >= 2 &&
      steps.back().at_s - steps.front().at_s >= kLeastCovered * seconds_of(readings)) {
    const double millijoules = steps.back().value - steps.front().value;
    return {millijoules * kJoulesPerMillijoule / (steps.back().at_s - steps.front().at_s),
            fmt::format("{} between {} steps of the counter", name, steps.size()),
            {}};
  }
  const double millijoules = total.back().value - total.front().value;
  return {millijoules * kJoulesPerMillijoule / seconds_of(readings), name, {}};
}

Power power_of_samples(const EnergyReadings& readings) {
  std::vector<Reading> samples = usable(readings.power_w);
  std::erase_if(samples, [&](const Reading& sample) {
    return sample.at_s < readings.begin_s || sample.at_s > readings.end_s;
  });
  if (samples.empty()) {
    return {{}, {}, "power was not readable"};
  }
  const double covered = samples.back().at_s - samples.front().at_s;
  if (samples.size() < kLeastPowerSamples || covered < kLeastCovered * seconds_of(readings)) {
    return {{}, {}, fmt::format("{} samples of power are too few", samples.size())};
  }
  double joules = 0;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    joules +=
        0.5 * (samples[i].value + samples[i - 1].value) * (samples[i].at_s - samples[i - 1].at_s);
  }
  return {joules / covered, fmt::format("integrated power ({} samples)", samples.size()), {}};
}

Energy none(std::string reason) {
  Energy energy;
  energy.reason = std::move(reason);
  return energy;
}

} // namespace

WINNOW_JSON_MEMBERS(Energy, joules_per_launch, average_power_w, reason, method)

Energy energy_of(const EnergyReadings& readings) {
  const double seconds = seconds_of(readings);
  if (readings.launches < 1 || !std::isfinite(seconds) || seconds <= 0) {
    return none("nothing was launched");
  }
  if (seconds < kLeastEnergySeconds) {
    return none(fmt::format("the launches lasted {:.3f} s: the counter moves every 20 to 100 ms, "
                            "so at least {} s are needed",
                            seconds, kLeastEnergySeconds));
  }
  Power power = power_of_total(readings);
  if (!power.watts) {
    const std::string why_no_total = power.why;
    power = power_of_samples(readings);
    if (!power.watts) {
      return none(fmt::format("{}; {}", why_no_total, power.why));
    }
  }
  return {*power.watts * seconds / static_cast<double>(readings.launches),
          power.watts,
          {},
          fmt::format("{} over {} launch{} in {:.2f} s", power.from, readings.launches,
                      readings.launches == 1 ? "" : "es", seconds)};
}

} // namespace winnow::profiling
