#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::profiling {

/// What one launch costs in energy, of the whole board or package: idle power is part of it.
struct Energy {
  std::optional<double> joules_per_launch;
  std::optional<double> average_power_w; ///< while launches ran back to back
  std::string reason;                    ///< why there is no value; empty when there is one
  std::string method; ///< "NVML total energy over 1234 launches in 1.02 s", "integrated power ..."
};

void to_json(nlohmann::json& json, const Energy& energy);
/// Throws nlohmann exceptions.
void from_json(const nlohmann::json& json, Energy& energy);

/// One value read at a moment of a steady clock.
struct Reading {
  double at_s = 0;
  double value = 0;
};

/// What was read around and during launches that ran back to back. All times are of one clock.
struct EnergyReadings {
  std::string counter = "NVML total energy"; ///< for Energy::method
  std::int64_t launches = 0;
  double begin_s = 0; ///< the first launch begins
  double end_s = 0;   ///< the last has ended
  /// A running total: at least one reading before and one after the launches; better, also some
  /// between, every few milliseconds.
  std::vector<Reading> energy_mj;
  std::vector<Reading> power_w; ///< between begin and end, every 20 ms or so
  std::string unavailable;      ///< why nothing was read, where nothing was
};

/// Energy counters move only every 20 to 100 ms (Yang, Adamek and Armour, "Part-time Power
/// Measurements", 2023, see it for what NVML's power is an average of), so launches are repeated
/// for this long.
constexpr double kEnergySeconds = 0.5;
/// Below this, one step of the counter is too much of what is measured.
constexpr double kLeastEnergySeconds = 0.25;

/// How many launches last kEnergySeconds; 1 to a million, also for a time that makes no sense.
std::int64_t launches_needed(double ns_per_launch);

/// From the running total where it moved: between its first and its last step, when readings caught
/// both, else between the first and the last reading. Without it the sampled power, integrated
/// (trapezoids). Else nothing, with the reason.
Energy energy_of(const EnergyReadings& readings);

} // namespace winnow::profiling
