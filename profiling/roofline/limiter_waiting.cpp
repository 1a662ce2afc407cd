#include "profiling/counters/counter_names.h"
#include "profiling/roofline/limiter_rules.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace winnow::profiling {
namespace {

constexpr double kLaunchTimes = 2; ///< below this many empty launches, the time is mostly launch
constexpr double kTailEfficiency = 0.75; ///< of waves: below, the last wave leaves SMs idle
constexpr double kSpillShare = 0.1;      ///< of the bytes that the SMs move
constexpr double kLowOccupancyPct = 50;
constexpr double kLeadingPct = 30;      ///< of the tensor pipe, for which such kernels are made
constexpr std::size_t kLeastStalls = 3; ///< for a comparison

struct StallName {
  std::string_view key;
  std::string_view waits_for;
};

constexpr std::array<StallName, 8> kStalls = {{
    {"stall_long_scoreboard", "global or local memory"},
    {"stall_short_scoreboard", "shared memory"},
    {"stall_mio_throttle", "the queue of shared memory"},
    {"stall_lg_throttle", "the queue of global memory"},
    {"stall_barrier", "barriers"},
    {"stall_math_pipe_throttle", "a busy arithmetic pipe"},
    {"stall_wait", "fixed latencies"},
    {"stall_gmma", "matrix multiplies"},
}};

std::string_view waits_for(std::string_view key) {
  const auto* found = std::find_if(kStalls.begin(), kStalls.end(),
                                   [key](const StallName& stall) { return stall.key == key; });
  return found != kStalls.end() ? found->waits_for : key;
}

void spills(const LimiterFacts& facts, Findings& findings) {
  const std::optional<double> loaded = facts.counters.value("local_load_bytes");
  const std::optional<double> stored = facts.counters.value("local_store_bytes");
  if (!loaded && !stored) {
    if (facts.spill_bytes_per_thread > 0) {
      find(findings, facts, Limiter::Latency, kHintWeight,
           fmt::format("registers are spilled: {:.0f} bytes per thread (no count of the spills)",
                       facts.spill_bytes_per_thread),
           {});
    }
    return;
  }
  const double local = loaded.value_or(0) + stored.value_or(0);
  const double global = facts.counters.value("l2_read_bytes").value_or(0) +
                        facts.counters.value("l2_write_bytes").value_or(0);
  const double task = facts.needed_bytes();
  const double all = local + std::max(global, task);
  if (local > 0 && local >= kSpillShare * all) {
    find(findings, facts, Limiter::Latency, kSpillWeight,
         fmt::format("registers are spilled: {} of local memory moved, {:.0f} % of all bytes",
                     counter_text(local, "B"), 100 * local / all),
         {"local_load_bytes", "local_store_bytes", "stall_long_scoreboard"});
  }
}

void occupancy(const LimiterFacts& facts, Findings& findings) {
  const std::optional<double> active = facts.counters.value("warps_active_pct");
  if (facts.has_roles_of_warps || !facts.theoretical_occupancy ||
      100 * *facts.theoretical_occupancy >= kLowOccupancyPct ||
      (active && *active >= kLowOccupancyPct)) {
    return;
  }
  const std::optional<double> waits = stall_share(facts.counters, {"stall_long_scoreboard"});
  if (waits && *waits < kMemoryStallShare) {
    return;
  }
  std::string because =
      fmt::format("registers, shared memory or block size allow {:.0f} % of an SM's warps",
                  100 * *facts.theoretical_occupancy);
  because += active ? fmt::format(", {:.0f} % are active", *active) : "";
  because += waits ? fmt::format("; {:.0f} % of stalls wait for memory", 100 * *waits) : "";
  // Without the counter, the low occupancy may be intended: many fast kernels use few warps with
  // many registers.
  find(findings, facts, Limiter::Occupancy, active ? kOccupancyWeight : kHintWeight, because,
       {"warps_active_pct", "stall_long_scoreboard"});
}

void overhead(const LimiterFacts& facts, Findings& findings) {
  if (facts.launch_overhead_ns && facts.time_ns > 0 &&
      facts.time_ns < kLaunchTimes * *facts.launch_overhead_ns) {
    find(findings, facts, Limiter::Launch, 100,
         fmt::format("the kernel takes {}, an empty launch {}", counter_text(facts.time_ns, "ns"),
                     counter_text(*facts.launch_overhead_ns, "ns")),
         {});
  }
}

void idle_multiprocessors(const LimiterFacts& facts, Findings& findings) {
  if (!facts.blocks || !facts.multiprocessors || *facts.blocks <= 0 ||
      *facts.multiprocessors <= 0) {
    return;
  }
  const double filled = *facts.blocks / *facts.multiprocessors;
  if (filled < 1) {
    find(findings, facts, Limiter::Launch, 50 + 50 * (1 - filled),
         fmt::format("{:.0f} block{} for {:.0f} multiprocessors: {:.0f} are idle", *facts.blocks,
                     *facts.blocks == 1 ? "" : "s", *facts.multiprocessors,
                     *facts.multiprocessors - *facts.blocks),
         {});
    return;
  }
  const double waves = filled / std::max(1.0, facts.blocks_per_multiprocessor.value_or(0));
  const double efficiency = waves / std::ceil(waves);
  if (facts.blocks_per_multiprocessor && waves > 1 && efficiency < kTailEfficiency) {
    find(findings, facts, Limiter::Launch, kTailWeight,
         fmt::format(
             "{:.0f} blocks are {:.2f} waves: some multiprocessors are idle in the last wave",
             *facts.blocks, waves),
         {});
  }
}

bool knows_units(const CounterReport& counters) {
  return counters.value("l2_throughput_pct") && counters.value("l1_throughput_pct");
}

// "DRAM 35 %, L2 41 %, ..." for the units with a counter.
std::string how_busy(const CounterReport& counters) {
  std::string text;
  for (const auto& [key, name] :
       {std::pair{"dram_throughput_pct", "DRAM"}, std::pair{"l2_throughput_pct", "L2"},
        std::pair{"l1_throughput_pct", "shared memory and L1"},
        std::pair{"tensor_pipe_pct", "tensor pipe"}, std::pair{"issue_active_pct", "issue"}}) {
    if (const std::optional<double> pct = counters.value(key)) {
      text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", name, *pct);
    }
  }
  return text;
}

} // namespace

std::string stalls_text(const CounterReport& report) {
  constexpr double kLeastShare = 0.05;
  std::string text;
  for (const Stall& stall : stalls_of(report)) {
    if (stall.share >= kLeastShare) {
      text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", waits_for(stall.key),
                          100 * stall.share);
    }
  }
  return text;
}

std::vector<Stall> stalls_of(const CounterReport& report) {
  std::vector<Stall> stalls;
  double all = 1; // the issuing warp: the values are warps per issue
  for (const StallName& stall : kStalls) {
    if (const std::optional<double> warps = report.value(stall.key); warps && *warps >= 0) {
      stalls.push_back({stall.key, *warps});
      all += *warps;
    }
  }
  if (stalls.size() < kLeastStalls) {
    return {};
  }
  for (Stall& stall : stalls) {
    stall.share /= all;
  }
  std::stable_sort(stalls.begin(), stalls.end(),
                   [](const Stall& a, const Stall& b) { return a.share > b.share; });
  return stalls;
}

std::optional<double> stall_share(const CounterReport& report,
                                  std::initializer_list<std::string_view> keys) {
  const std::vector<Stall> stalls = stalls_of(report);
  if (stalls.empty()) {
    return std::nullopt;
  }
  double share = 0;
  for (const Stall& stall : stalls) {
    share += std::find(keys.begin(), keys.end(), stall.key) != keys.end() ? stall.share : 0;
  }
  return share;
}

void waiting_rules(const LimiterFacts& facts, Findings& findings) {
  spills(facts, findings);
  occupancy(facts, findings);
}

void launch_rules(const LimiterFacts& facts, Findings& findings) {
  overhead(facts, findings);
  idle_multiprocessors(facts, findings);
}

void latency_rule(const LimiterFacts& facts, Findings& findings) {
  const bool busy = std::any_of(findings.begin(), findings.end(), [](const LimiterFinding& found) {
    return found.weight >= kBusyPct;
  });
  const std::string units = how_busy(facts.counters);
  if (busy || units.empty()) {
    return;
  }
  if (!knows_units(facts.counters)) {
    find(findings, facts, Limiter::Unknown, kLatencyWeight,
         fmt::format("no counted unit is busy ({}); full counters would show whether L2, shared "
                     "memory or latency limits",
                     units),
         {"dram_throughput_pct", "tensor_pipe_pct", "issue_active_pct"});
    return;
  }
  if (const auto tensor = facts.counters.value("tensor_pipe_pct");
      facts.has_roles_of_warps && tensor && *tensor >= kLeadingPct) {
    find(findings, facts, Limiter::Tensor, kLatencyWeight,
         fmt::format("the tensor pipe is {:.0f} % active and idles the rest of the time ({})",
                     *tensor, units),
         {"tensor_pipe_pct", "stall_gmma", "stall_barrier"});
    return;
  }
  std::string because = fmt::format("no unit is {:.0f} % busy ({})", kBusyPct, units);
  const std::vector<Stall> stalls = stalls_of(facts.counters);
  if (!stalls.empty()) {
    because += fmt::format("; warps wait for {} ({:.0f} % of stalls)", waits_for(stalls[0].key),
                           100 * stalls[0].share);
  }
  find(findings, facts, Limiter::Latency, kLatencyWeight, because,
       {stalls.empty() ? std::string_view("warps_active_pct") : stalls[0].key, "issue_active_pct",
        "dram_throughput_pct", "l2_throughput_pct", "l1_throughput_pct"});
}

} // namespace winnow::profiling
