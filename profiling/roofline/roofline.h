#pragma once

#include "profiling/roofline/ceilings.h"

#include <algorithm>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::profiling {

/// The work of one launch for a shape, for any kernel.
struct Work {
  double bytes = 0;      ///< each input read once, each output written once
  double operations = 0; ///< a fused multiply-add counts as two; 0: too few to count
  std::string kind;      ///< of operations, as in Ceilings::rates
  bool cold = true;      ///< caches are empty before the launch: a copy reads from DRAM
};

/// The lower bound of the time of any kernel with cold caches, from the peaks of the device.
struct PhysicalFloor {
  double memory_ns = 0;
  double arithmetic_ns = 0;
  double bytes = 0;        ///< bytes in memory_ns; excludes written bytes that may stay in a cache
  std::string memory_peak; ///< "DRAM's peak"
  std::string arithmetic_peak; ///< "16-bit tensor peak"
  double ns() const { return std::max(memory_ns, arithmetic_ns); }
};

/// The definition: the speed of light is the time of the physical floor plus an empty launch.
/// `fraction` is that time over the kernel's time; at most 1 for a correct kernel. The measured
/// times below are for comparison only: a kernel can be faster than a plain copy, because the
/// output of a copy has to leave the caches.
struct SpeedOfLight {
  double fraction = 0;    ///< least_ns / time; above 1 only with a note
  double least_ns = 0;    ///< time of the floor plus the launch
  std::string bound;      ///< "DRAM's peak", "16-bit tensor peak", "an empty launch"
  double rate = 0;        ///< of the bound, in bytes or operations per second; 0: a launch has none
  bool by_bytes = true;   ///< the floor is set by memory, not arithmetic
  double floor_bytes = 0; ///< PhysicalFloor::bytes
  double bytes = 0;       ///< as in Work; so is the next field
  double operations = 0;
  std::optional<double> launch_ns; ///< time of an empty launch
  std::optional<double> copy_ns; ///< time of a plain copy that moves `bytes`, including the launch
  std::string copy_level;        ///< memory level of the copy: "DRAM"; on a CPU "L3", ...
  std::optional<double> rate_ns; ///< time of the operations at the measured rate of `rate_kind`
  std::string rate_kind;         ///< "f16_tensor"
  std::string note;              ///< why the fraction is above 1; usually empty
};

struct SpeedOfLightResult {
  std::optional<SpeedOfLight> value;
  std::string reason; ///< empty if there is a value
};

/// Fields that `ceilings` cannot give are absent. Without an empty launch, the floor alone counts.
SpeedOfLightResult speed_of_light(const Work& work, const PhysicalFloor& floor, double time_ns,
                                  const Ceilings& ceilings);

/// For instance "53 % of the speed of light (DRAM's peak, 4.81 TB/s)".
std::string share_text(const SpeedOfLight& speed);
/// For instance "16.9 us: 71.3 of 134 MB at DRAM's peak, the rest may stay in L2; an empty launch
/// of 2.10 us".
std::string least_time_text(const SpeedOfLight& speed);
/// For instance "a plain copy of the same 134 MB takes 34.8 us, an empty launch 2.10 us". May be
/// empty.
std::string measured_text(const SpeedOfLight& speed);

void to_json(nlohmann::json& json, const SpeedOfLight& speed);
/// Throws nlohmann exceptions.
void from_json(const nlohmann::json& json, SpeedOfLight& speed);

} // namespace winnow::profiling
