#pragma once

#include <cstdint>
#include <mutex>

namespace winnow::evaluators::cpu {

/// Numbers about a run's launches that need no instrumentation.
struct RunFacts {
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;
  std::uint64_t threads = 0;
  std::uint64_t barriers = 0;        ///< __syncthreads and the like: one per block that passes it
  std::uint64_t grid_barriers = 0;   ///< of whole grids
  std::uint64_t warp_operations = 0; ///< shuffles, votes, __syncwarp: one per warp
};

/// Sums up the counts of a run's workers.
class RunFactsSum {
public:
  void add(const RunFacts& facts) {
    const std::lock_guard lock(mutex_);
    sum_.launches += facts.launches;
    sum_.blocks += facts.blocks;
    sum_.threads += facts.threads;
    sum_.barriers += facts.barriers;
    sum_.grid_barriers += facts.grid_barriers;
    sum_.warp_operations += facts.warp_operations;
  }
  RunFacts get() const {
    const std::lock_guard lock(mutex_);
    return sum_;
  }

private:
  mutable std::mutex mutex_;
  RunFacts sum_;
};

} // namespace winnow::evaluators::cpu
