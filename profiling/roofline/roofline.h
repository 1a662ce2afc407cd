#pragma once

#include "profiling/roofline/ceilings.h"

#include <algorithm>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::profiling {

/// What one launch of any kernel for this shape has to do.
struct Work {
  double bytes = 0;      ///< each input read once, each output written once
  double operations = 0; ///< multiply and add are two; 0: none worth counting
  std::string kind;      ///< of operations, as in Ceilings::rates
  bool cold = true;      ///< caches were emptied before: a copy reads from DRAM
};

/// No run with cold caches takes less, whatever the kernel: what peaks of the device allow.
struct PhysicalFloor {
  double memory_ns = 0;
  double arithmetic_ns = 0;
  double bytes = 0; ///< that memory_ns counts: without those written that may stay in a cache
  std::string memory_peak;     ///< "DRAM's peak"
  std::string arithmetic_peak; ///< "16-bit tensor peak"
  double ns() const { return std::max(memory_ns, arithmetic_ns); }
};

/// The one definition: the speed of light is the time of the physical floor and of an empty
/// launch. `fraction` is that time over the kernel's, at most 1 for a kernel that does its work.
/// Beside it stand times that were measured on this device, for comparison: nothing keeps a kernel
/// from being faster than a copy, whose output leaves the caches.
struct SpeedOfLight {
  double fraction = 0;    ///< least_ns / time; over 1 only with a note
  double least_ns = 0;    ///< of the floor and the launch
  std::string bound;      ///< "DRAM's peak", "16-bit tensor peak", "an empty launch"
  double rate = 0;        ///< of the bound: bytes or operations by the second; 0: a launch has none
  bool by_bytes = true;   ///< of the floor: memory, not arithmetic
  double floor_bytes = 0; ///< that count for the floor; see PhysicalFloor
  double bytes = 0;       ///< as in Work, as the next
  double operations = 0;
  std::optional<double> launch_ns; ///< an empty launch
  std::optional<double> copy_ns;   ///< a plain copy that moves `bytes`, and a launch
  std::string copy_level;          ///< of the copy's bandwidth: "DRAM"; on a cpu "L3", ...
  std::optional<double> rate_ns;   ///< the operations at the measured rate of `rate_kind`
  std::string rate_kind;           ///< "f16_tensor"
  std::string note;                ///< why the fraction is over 1; usually empty
};

struct SpeedOfLightResult {
  std::optional<SpeedOfLight> value;
  std::string reason; ///< why there is no value
};

/// What `ceilings` lack is absent; without the time of an empty launch the floor stands alone.
SpeedOfLightResult speed_of_light(const Work& work, const PhysicalFloor& floor, double time_ns,
                                  const Ceilings& ceilings);

/// "53 % of the speed of light (DRAM's peak, 4.81 TB/s)"
std::string share_text(const SpeedOfLight& speed);
/// "16.9 us: 71.3 of 134 MB at DRAM's peak, the rest may stay in L2; an empty launch of 2.10 us"
std::string least_time_text(const SpeedOfLight& speed);
/// "a plain copy of the same 134 MB takes 34.8 us, an empty launch 2.10 us"; empty without any.
std::string measured_text(const SpeedOfLight& speed);

void to_json(nlohmann::json& json, const SpeedOfLight& speed);
/// Throws nlohmann exceptions.
void from_json(const nlohmann::json& json, SpeedOfLight& speed);

} // namespace winnow::profiling
