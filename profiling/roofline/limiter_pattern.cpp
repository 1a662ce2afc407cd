#include "profiling/counters/counter_names.h"
#include "profiling/roofline/limiter_rules.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace winnow::profiling {
namespace {

// The work of a multiprocessor per cycle: 128 multiply-adds of 32 bits and one wavefront (CUDA C++
// Programming Guide, compute capability 8.6 to 9.0). Its share of the memory bandwidth is 10 bytes
// on an A100 and 18 on an H200.
constexpr double kOperationsACycle = 256;
constexpr double kBytesACycle = 16;
// GPUs differ, so a limiter must take this many times as long as any other.
constexpr double kClearly = 2;
// The bandwidth of L2 as a multiple of the memory bandwidth (measured: 1.8 to 2 on an H200).
constexpr double kL2Bandwidths = 2;

struct Demand {
  Limiter limiter;
  std::string_view name;
  double least, most; ///< cycles if one multiprocessor did all the work
};

// The demand that clearly takes longest, whatever the caches hold; nullptr if there is none.
const Demand* longest(const std::array<Demand, 3>& demands) {
  const auto* found = std::find_if(demands.begin(), demands.end(), [&](const Demand& one) {
    return std::all_of(demands.begin(), demands.end(), [&](const Demand& other) {
      return &other == &one || one.least >= kClearly * other.most;
    });
  });
  return found != demands.end() && found->least > 0 ? found : nullptr;
}

} // namespace

void pattern_rule(const LimiterFacts& facts, Findings& findings) {
  const std::optional<double> read = facts.counters.value("global_bytes_read");
  const std::optional<double> written = facts.counters.value("global_bytes_written");
  const std::optional<double> wavefronts = facts.counters.value("shared_wavefronts");
  if (!only_hints(findings) || !read || !written || !wavefronts ||
      (!facts.speed_of_light && !(facts.work.bytes > 0)) ||
      !scattered_accesses(facts.counters).empty()) {
    return;
  }
  const double moved = *read + *written;
  const double needed = std::min(moved, facts.needed_bytes());
  const double operations =
      facts.speed_of_light ? facts.speed_of_light->operations : facts.work.operations;
  const double arithmetic = operations / kOperationsACycle;
  const std::array<Demand, 3> demands = {
      {{Limiter::Dram, "memory", needed / kBytesACycle, moved / kBytesACycle},
       {Limiter::SharedMemory, "shared memory", *wavefronts, *wavefronts},
       {Limiter::FloatingPoint, "FP32 pipe", arithmetic, arithmetic}}};
  const Demand* most = longest(demands);
  if (most == nullptr || (most->limiter == Limiter::Dram && moved > kL2Bandwidths * needed)) {
    return;
  }
  find(findings, facts, most->limiter, kLatencyWeight,
       fmt::format("this access pattern keeps a GPU's {} busy longest: {} moved, coalesced; {:.0f} "
                   "wavefronts of shared memory; {:.0f} operations",
                   most->name, counter_text(moved, "B"), *wavefronts, operations),
       {"global_bytes_read", "global_bytes_written", "shared_wavefronts"});
}

} // namespace winnow::profiling
