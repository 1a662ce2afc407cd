#include "profiling/counters/counter_names.h"
#include "profiling/roofline/limiter_rules.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::profiling {
namespace {

constexpr double kExcessBytes = 1.25; ///< times the task's bytes: above noise and padding
// 32 accesses of 16 bytes touch 16 sectors of 32 bytes if coalesced; more sectors prove scattered
// accesses. Narrower scattered accesses can touch fewer sectors; this rule does not see them.
constexpr double kUncoalescedSectors = 17;
constexpr double kLeastL2Pct = 30;     ///< below, scattered accesses are few
constexpr double kConflictShare = 0.3; ///< of all wavefronts
constexpr double kSharedStallShare = 0.3;

std::string near_peak(double pct) {
  return pct >= kSaturatedPct ? " (near its peak)" : "";
}

void dram(const LimiterFacts& facts, Findings& findings) {
  const std::optional<double> pct = facts.counters.value("dram_throughput_pct");
  if (!pct || *pct < kBusyPct) {
    return;
  }
  std::string because = fmt::format("DRAM throughput {:.0f} % of its peak", *pct);
  const std::optional<double> read = facts.counters.value("dram_read_bytes");
  const std::optional<double> written = facts.counters.value("dram_write_bytes");
  if (read && written) {
    because +=
        fmt::format(": {} read, {} written", counter_text(*read, "B"), counter_text(*written, "B"));
    const double needed = facts.needed_bytes();
    if (needed > 0 && *read + *written > kExcessBytes * needed) {
      because += fmt::format(", {:.1f} times what the task needs", (*read + *written) / needed);
    }
  }
  find(findings, facts, Limiter::Dram, *pct, because,
       {"dram_throughput_pct", "dram_read_bytes", "dram_write_bytes"});
}

} // namespace

std::string scattered_accesses(const CounterReport& counters) {
  std::string text;
  for (const char* what : {"load", "store"}) {
    const std::optional<double> sectors =
        counters.value(fmt::format("{}_sectors_per_request", what));
    if (sectors && *sectors >= kUncoalescedSectors) {
      // 32 coalesced accesses of n bytes fill n sectors of 32 bytes.
      const std::optional<double> bytes = counters.value(fmt::format("{}_access_bytes", what));
      text +=
          fmt::format("{}{}s touch {:.0f} sectors per request ({})",
                      text.empty() ? "uncoalesced: " : ", ", what, *sectors,
                      bytes ? fmt::format("{0:.3g}-byte accesses of a warp need {0:.3g}", *bytes)
                            : "a warp needs 4 for 4-byte accesses and 16 for 16-byte accesses");
    }
  }
  return text;
}

namespace {

void l2(const LimiterFacts& facts, Findings& findings) {
  const std::optional<double> pct = facts.counters.value("l2_throughput_pct");
  const std::string scattered = scattered_accesses(facts.counters);
  const bool busy = pct && *pct >= kBusyPct;
  const bool waits =
      stall_share(facts.counters, {"stall_long_scoreboard", "stall_lg_throttle"}).value_or(1) >=
      kMemoryStallShare;
  const bool evident = !scattered.empty() && (!pct || *pct >= kLeastL2Pct) && (busy || waits);
  if (!busy && !evident) {
    return;
  }
  std::string because = pct ? fmt::format("L2 throughput {:.0f} %{}", *pct, near_peak(*pct)) : "";
  if (!scattered.empty()) {
    because += (because.empty() ? "" : "; ") + scattered;
  }
  find(findings, facts, Limiter::L2, evident ? std::max(kEvidentWeight, pct.value_or(0)) : *pct,
       because,
       {"l2_throughput_pct", "load_sectors_per_request", "store_sectors_per_request",
        "stall_lg_throttle"});
}

// The share of wavefronts that bank conflicts cause. A wavefront is one turn of the data pipe of
// shared memory and L1. The number of wavefronts is the pipe's throughput times its peak, which is
// one per cycle and SM.
std::optional<double> conflict_share(const LimiterFacts& facts) {
  const std::optional<double> loads = facts.counters.value("shared_load_bank_conflicts");
  const std::optional<double> stores = facts.counters.value("shared_store_bank_conflicts");
  const std::optional<double> pct = facts.counters.value("l1_throughput_pct");
  const std::optional<double> cycles = facts.counters.value("sm_cycles");
  if ((!loads && !stores) || !pct || !cycles || !facts.multiprocessors) {
    return std::nullopt;
  }
  const double wavefronts = *pct / 100 * *cycles * *facts.multiprocessors;
  return wavefronts > 0
             ? std::optional(std::min(1.0, (loads.value_or(0) + stores.value_or(0)) / wavefronts))
             : std::nullopt;
}

void shared_memory(const LimiterFacts& facts, Findings& findings) {
  const std::optional<double> pct = facts.counters.value("l1_throughput_pct");
  const std::optional<double> conflicts = conflict_share(facts);
  const std::optional<double> waits =
      stall_share(facts.counters, {"stall_short_scoreboard", "stall_mio_throttle"});
  const bool busy = pct && *pct >= kBusyPct;
  const bool conflicting = conflicts && *conflicts >= kConflictShare;
  if (!busy && !(conflicting && waits.value_or(1) >= kSharedStallShare)) {
    return;
  }
  std::string because = fmt::format("data pipe of shared memory and L1 {:.0f} % busy", *pct);
  if (conflicting) {
    because += fmt::format("; bank conflicts are {:.0f} % of its work", 100 * *conflicts);
  }
  if (waits && *waits >= kSharedStallShare) {
    because += fmt::format("; {:.0f} % of stalls wait for it", 100 * *waits);
  }
  find(findings, facts, Limiter::SharedMemory, conflicting ? std::max(kEvidentWeight, *pct) : *pct,
       because,
       {"l1_throughput_pct", "shared_load_bank_conflicts", "shared_store_bank_conflicts",
        "stall_short_scoreboard", "stall_mio_throttle"});
}

// For the CPU device, which counts accesses but has no such pipe: the pattern alone is evidence.
void counted_conflicts(const LimiterFacts& facts, Findings& findings) {
  const std::optional<double> conflicts = facts.counters.value("shared_bank_conflicts");
  const std::optional<double> wavefronts = facts.counters.value("shared_wavefronts");
  if (!conflicts || !wavefronts || !(*wavefronts > 0) ||
      *conflicts < kConflictShare * *wavefronts) {
    return;
  }
  find(findings, facts, Limiter::SharedMemory, kEvidentWeight,
       fmt::format("bank conflicts are {:.0f} % of the wavefronts that a GPU's shared memory would "
                   "take",
                   100 * *conflicts / *wavefronts),
       {"shared_bank_conflicts", "shared_wavefronts"});
}

} // namespace

void memory_rules(const LimiterFacts& facts, Findings& findings) {
  dram(facts, findings);
  l2(facts, findings);
  shared_memory(facts, findings);
  counted_conflicts(facts, findings);
}

} // namespace winnow::profiling
