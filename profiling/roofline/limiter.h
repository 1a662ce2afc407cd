#pragma once

#include "profiling/counters/counter_report.h"
#include "profiling/roofline/roofline.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::profiling {

/// The bottleneck of a kernel. Numbers are stored: append only.
enum class Limiter {
  Unknown = 0,
  Dram = 1,          ///< bandwidth of device memory
  L2 = 2,            ///< bandwidth of L2; uncoalesced accesses are one cause
  SharedMemory = 3,  ///< data pipe of an SM to shared memory and L1; bank conflicts are one cause
  Tensor = 4,        ///< tensor cores
  FloatingPoint = 5, ///< other pipes, and the issue slots
  Latency = 6,       ///< no unit is busy: warps wait
  Occupancy = 7,     ///< as Latency, because registers or shared memory allow too few warps
  Launch = 8,        ///< too little work to fill the device, or less than the launch overhead
};

std::string_view to_string(Limiter limiter); ///< "DRAM bandwidth", "shared memory"
/// Unknown for any other text.
Limiter limiter_from_string(std::string_view text);

struct LimiterFinding {
  Limiter limiter = Limiter::Unknown;
  std::string because; ///< one line with the counters that show the bottleneck, and their values
  std::vector<std::string> counters; ///< their keys in the report
  double weight = 0;                 ///< sorts the findings; roughly a percentage
};

void to_json(nlohmann::json& json, const LimiterFinding& finding);
/// Throws nlohmann exceptions.
void from_json(const nlohmann::json& json, LimiterFinding& finding);

/// The known facts about one kernel at one shape. A rule is skipped if a fact that it needs is
/// missing.
struct LimiterFacts {
  CounterReport counters;
  double time_ns = 0;
  std::optional<double> launch_overhead_ns;
  std::optional<SpeedOfLight> speed_of_light;
  Work work = {}; ///< of the task, where there is no speed of light; no bytes: not known
  double needed_bytes() const { return speed_of_light ? speed_of_light->bytes : work.bytes; }
  std::optional<double> theoretical_occupancy;     ///< 0 to 1: limit by registers, shared memory
  std::optional<double> multiprocessors;           ///< of the device
  std::optional<double> blocks;                    ///< of the launch
  std::optional<double> blocks_per_multiprocessor; ///< resident at the same time
  double spill_bytes_per_thread = 0;               ///< from the compiler: stores and loads
  /// The code copies in bulk or multiplies by warpgroups: few warps, each with a role, keep such a
  /// kernel busy, so its occupancy tells nothing.
  bool has_roles_of_warps = false;
};

// Thresholds of Nsight Compute's "Speed of Light" section. At 60 % of a unit's peak, the kernel is
// bound by that unit; below, by latency. At 80 %, only less work for that unit helps.
constexpr double kBusyPct = 60;
constexpr double kSaturatedPct = 80;

/// What warps wait for, with each reason's share of all waits and issues: "barriers 31 %, global or
/// local memory 12 %"; reasons below 5 % are left out. Empty if the report has too few of them.
std::string stalls_text(const CounterReport& report);

/// Applies the rules to the facts. The most telling finding comes first; there is always one.
/// Without counters only the roofline rules apply, and the finding says so. With neither, the only
/// finding is Unknown and names the missing facts.
std::vector<LimiterFinding> limiter_of(const LimiterFacts& facts);

} // namespace winnow::profiling
