// The rules behind limiter_of(), by what they look at: for this folder's .cpp files only.
#pragma once

#include "profiling/roofline/limiter.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::profiling {

using Findings = std::vector<LimiterFinding>;

/// Weights of what has no percentage of a peak. Each is a place in the order: behind any unit that
/// is really busy, before what is only left over.
constexpr double kEvidentWeight = kBusyPct + 1; ///< a fault in the code, plainly seen
constexpr double kSpillWeight = 55;
constexpr double kOccupancyWeight = 50;
constexpr double kTailWeight = 45;
constexpr double kLatencyWeight = 40;
constexpr double kHintWeight = 20;

constexpr double kMemoryStallShare = 0.3; ///< of all stalls: warps do wait for memory

/// One reason for which warps wait: its part of all that the report knows.
struct Stall {
  std::string_view key;
  double share = 0; ///< 0 to 1
};

/// Largest first; empty when the report has too few of them to say what is large.
std::vector<Stall> stalls_of(const CounterReport& report);
/// Sum of the shares of these keys; nullopt when stalls are not known.
std::optional<double> stall_share(const CounterReport& report,
                                  std::initializer_list<std::string_view> keys);

/// "uncoalesced: loads touch 32 sectors a request", where that is far from coalesced; else empty.
std::string scattered_accesses(const CounterReport& counters);

/// Adds a finding; of `keys` those that the report has.
void find(Findings& findings, const LimiterFacts& facts, Limiter limiter, double weight,
          std::string because, std::initializer_list<std::string_view> keys);

/// Nothing in `findings` names a limiter.
bool only_hints(const Findings& findings);

void memory_rules(const LimiterFacts& facts, Findings& findings);     ///< DRAM, L2, shared memory
void arithmetic_rules(const LimiterFacts& facts, Findings& findings); ///< tensor, other pipes
void launch_rules(const LimiterFacts& facts, Findings& findings);     ///< overhead, idle SMs, tail
void waiting_rules(const LimiterFacts& facts, Findings& findings);    ///< spills, occupancy
/// What a pattern of accesses leaves to wait for, where they were counted and no unit was (the
/// cpu); looks at the other findings.
void pattern_rule(const LimiterFacts& facts, Findings& findings);
/// What is left where nothing is busy; looks at the other findings.
void latency_rule(const LimiterFacts& facts, Findings& findings);

} // namespace winnow::profiling
