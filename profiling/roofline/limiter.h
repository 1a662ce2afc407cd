#pragma once

#include "profiling/counters/counter_report.h"
#include "profiling/roofline/roofline.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::profiling {

/// What keeps a kernel from being faster. Numbers are stored: append only.
enum class Limiter {
  Unknown = 0,
  Dram = 1,          ///< bandwidth of device memory
  L2 = 2,            ///< bandwidth of L2, uncoalesced accesses among its causes
  SharedMemory = 3,  ///< the SM's data pipe to shared memory and L1; bank conflicts
  Tensor = 4,        ///< tensor cores
  FloatingPoint = 5, ///< other pipes, and the slots that instructions are issued in
  Latency = 6,       ///< nothing is busy: warps wait
  Occupancy = 7,     ///< as Latency, for lack of warps: registers or shared memory allow no more
  Launch = 8,        ///< too little work to fill the device, or to outlast the launch itself
};

std::string_view to_string(Limiter limiter); ///< "DRAM bandwidth", "shared memory"
/// Unknown for any other text.
Limiter limiter_from_string(std::string_view text);

struct LimiterFinding {
  Limiter limiter = Limiter::Unknown;
  std::string because;               ///< the counters that say so, with values; one line
  std::vector<std::string> counters; ///< their keys in the report
  double weight = 0;                 ///< orders findings; roughly a percentage
};

void to_json(nlohmann::json& json, const LimiterFinding& finding);
/// Throws nlohmann exceptions.
void from_json(const nlohmann::json& json, LimiterFinding& finding);

/// What is known of one kernel at one shape. Whatever is missing only silences the rules that need
/// it.
struct LimiterFacts {
  CounterReport counters;
  double time_ns = 0;
  std::optional<double> launch_overhead_ns;
  std::optional<SpeedOfLight> speed_of_light;
  std::optional<double> theoretical_occupancy;     ///< 0 to 1: what registers, shared memory allow
  std::optional<double> multiprocessors;           ///< of the device
  std::optional<double> blocks;                    ///< of the launch
  std::optional<double> blocks_per_multiprocessor; ///< resident at once
  double spill_bytes_per_thread = 0;               ///< as compiled: stores and loads
};

// At 60 % of a unit's peak Nsight Compute's "Speed of Light" section calls a kernel bound by that
// unit, below it bound by latency; at 80 % it says that only less work for that unit helps.
constexpr double kBusyPct = 60;
constexpr double kSaturatedPct = 80;

/// Rules over counters, most telling first, never empty. Without counters the roofline alone
/// speaks, and says so; with neither there is one finding, Unknown, that says what is missing.
std::vector<LimiterFinding> limiter_of(const LimiterFacts& facts);

} // namespace winnow::profiling
