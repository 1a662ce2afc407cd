// The rules of limiter_of(), grouped by the facts that they use. For the .cpp files of this folder
// only.
#pragma once

#include "profiling/roofline/limiter.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::profiling {

using Findings = std::vector<LimiterFinding>;

/// Weights of findings that have no percentage of a peak. They rank after every busy unit (60 % and
/// more), except kEvidentWeight.
constexpr double kEvidentWeight = kBusyPct + 1; ///< a clear fault in the code
constexpr double kSpillWeight = 55;
constexpr double kOccupancyWeight = 50;
constexpr double kTailWeight = 45;
constexpr double kLatencyWeight = 40;
constexpr double kHintWeight = 20;

constexpr double kMemoryStallShare = 0.3; ///< share of all stalls above which warps wait for memory

/// One reason for which warps wait, and its share of all known stalls.
struct Stall {
  std::string_view key;
  double share = 0; ///< 0 to 1
};

/// Largest first. Empty if the report has too few stall counters for a comparison.
std::vector<Stall> stalls_of(const CounterReport& report);
/// Sum of the shares of these keys; nullopt if the stalls are not known.
std::optional<double> stall_share(const CounterReport& report,
                                  std::initializer_list<std::string_view> keys);

/// "uncoalesced: loads touch 32 sectors a request" if accesses are far from coalesced; else empty.
std::string scattered_accesses(const CounterReport& counters);

/// Adds a finding with those `keys` that the report has.
void find(Findings& findings, const LimiterFacts& facts, Limiter limiter, double weight,
          std::string because, std::initializer_list<std::string_view> keys);

/// True if no finding names a limiter.
bool only_hints(const Findings& findings);

void memory_rules(const LimiterFacts& facts, Findings& findings);     ///< DRAM, L2, shared memory
void arithmetic_rules(const LimiterFacts& facts, Findings& findings); ///< tensor, other pipes
void launch_rules(const LimiterFacts& facts, Findings& findings);     ///< overhead, idle SMs, tail
void waiting_rules(const LimiterFacts& facts, Findings& findings);    ///< spills, occupancy
/// For the CPU device, which counts accesses but no unit. Derives the bottleneck from the access
/// pattern. Depends on the other findings.
void pattern_rule(const LimiterFacts& facts, Findings& findings);
/// Latency, if no unit is busy. Depends on the other findings.
void latency_rule(const LimiterFacts& facts, Findings& findings);

} // namespace winnow::profiling
