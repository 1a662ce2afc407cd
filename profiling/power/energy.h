#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::profiling {

/// The energy of one launch, for the whole board or package, idle power included.
struct Energy {
  std::optional<double> joules_per_launch;
  std::optional<double> average_power_w; ///< during launches back to back
  std::string reason;                    ///< why there is no value; else empty
  std::string method; ///< "NVML total energy over 1234 launches in 1.02 s", "integrated power ..."
};

void to_json(nlohmann::json& json, const Energy& energy);
/// Throws nlohmann exceptions.
void from_json(const nlohmann::json& json, Energy& energy);

/// One value with its time on a steady clock.
struct Reading {
  double at_s = 0;
  double value = 0;
};

/// The readings before, during and after launches back to back. All times are from one clock.
struct EnergyReadings {
  std::int64_t launches = 0;
  double begin_s = 0; ///< start of the first launch
  double end_s = 0;   ///< end of the last launch
  /// Readings of a running total: at least one before and one after the launches. Readings every
  /// few milliseconds in between make the result more accurate.
  std::vector<Reading> energy_mj;
  std::vector<Reading> power_w; ///< between begin and end, every 20 ms or so
};

/// Energy counters move only every 20 to 100 ms, so the launches are repeated for this long. (Yang,
/// Adamek and Armour, "Part-time Power Measurements", 2023; it also describes how NVML averages
/// power.)
constexpr double kEnergySeconds = 0.5;
/// Below this time, one step of the counter is too large a part of the result.
constexpr double kLeastEnergySeconds = 0.25;

/// From the running total where it moved: between its first and its last step, when readings caught
/// both, else between the first and the last reading. Without it the sampled power, integrated
/// (trapezoids). Else nothing, with the reason.
Energy energy_of(const EnergyReadings& readings);

} // namespace winnow::profiling
