#pragma once

#include "profiling/roofline/ceilings.h"

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::profiling {

/// What one launch of any kernel for this shape has to do, and what caches held before.
struct Work {
  double bytes = 0;       ///< each input read once, each output written once
  double operations = 0;  ///< multiply and add are two; 0: none worth counting
  std::string kind;       ///< of operations, as in Ceilings::rates; empty: no operations counted
  double working_set = 0; ///< bytes that the launch touches; 0: as `bytes`
  bool warm = false;      ///< it was touched just before; else caches were emptied
};

/// How near a time is to the least that the device's measured ceilings allow.
struct SpeedOfLight {
  double fraction = 0;  ///< floor_ns / time; over 1 only with a note
  std::string bound;    ///< "DRAM bandwidth", "L2 bandwidth", "f16_tensor rate"
  bool by_bytes = true; ///< the bound is a bandwidth
  double floor_ns = 0;
  double bytes = 0; ///< as in Work
  double operations = 0;
  std::optional<double> intensity; ///< operations a byte; nullopt without bytes
  std::optional<double> ridge;     ///< intensity at which both bounds meet; nullopt without a rate
  std::string note;                ///< why the fraction is not what it seems; usually empty
};

struct SpeedOfLightResult {
  std::optional<SpeedOfLight> value;
  std::string reason; ///< why there is no value
};

/// The roofline of Williams et al., aware of caches: with cold ones all bytes come from DRAM; what
/// was touched just before comes at the bandwidth that a copy of that working set reached. A
/// ceiling that was not measured gives no value where it could be the bound: a floor without it
/// would name the wrong one.
SpeedOfLightResult speed_of_light(const Work& work, double time_ns, const Ceilings& ceilings);

void to_json(nlohmann::json& json, const SpeedOfLight& speed);
/// Throws nlohmann exceptions.
void from_json(const nlohmann::json& json, SpeedOfLight& speed);

} // namespace winnow::profiling
