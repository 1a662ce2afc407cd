#include "profiling/roofline/counter_text.h"
#include "profiling/roofline/limiter_rules.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace winnow::profiling {
namespace {

// What a multiprocessor does in a cycle: 128 multiply-adds of 32 bits and one wavefront (CUDA C++
// Programming Guide, compute capability 8.6 to 9.0); its share of the memory's bandwidth is 10
// bytes on an A100 and 18 on an H200.
constexpr double kOperationsACycle = 256;
constexpr double kBytesACycle = 16;
// Nothing is named that is not so many times what comes next: GPUs differ.
constexpr double kClearly = 2;

struct Demand {
  Limiter limiter;
  std::string_view name;
  double cycles; ///< of one multiprocessor that does everything
};

} // namespace

void pattern_rule(const LimiterFacts& facts, Findings& findings) {
  const std::optional<double> read = facts.counters.value("global_bytes_read");
  const std::optional<double> written = facts.counters.value("global_bytes_written");
  const std::optional<double> wavefronts = facts.counters.value("shared_wavefronts");
  if (!only_hints(findings) || !read || !written || !wavefronts || !facts.speed_of_light ||
      !scattered_accesses(facts.counters).empty()) {
    return;
  }
  const double moved = *read + *written;
  const double operations = facts.speed_of_light->operations;
  std::array<Demand, 3> demands = {
      {{Limiter::Dram, "memory", moved / kBytesACycle},
       {Limiter::SharedMemory, "shared memory", *wavefronts},
       {Limiter::FloatingPoint, "FP32 pipe", operations / kOperationsACycle}}};
  std::sort(demands.begin(), demands.end(),
            [](const Demand& a, const Demand& b) { return a.cycles > b.cycles; });
  const auto& [most, next, least] = demands;
  const bool cached =
      moved > kExcessBytes * facts.speed_of_light->bytes; // how much, nobody counted
  if (most.cycles < kClearly * next.cycles || (most.limiter == Limiter::Dram && cached)) {
    return;
  }
  find(findings, facts, most.limiter, kLatencyWeight,
       fmt::format("this pattern keeps a GPU's {} busy longest: {} moved, coalesced; {:.0f} "
                   "wavefronts of shared memory; {:.0f} operations",
                   most.name, counter_text(moved, "B"), *wavefronts, operations),
       {"global_bytes_read", "global_bytes_written", "shared_wavefronts"});
}

} // namespace winnow::profiling
