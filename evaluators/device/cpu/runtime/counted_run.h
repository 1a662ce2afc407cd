#pragma once

#include "evaluators/device/cpu/runtime/access_counter.h"
#include "evaluators/device/cpu/runtime/launch.h"
#include "evaluators/device/cpu/runtime/run_facts.h"
#include "profiling/counters/counter_report.h"

#include <map>
#include <optional>
#include <string>

namespace winnow::evaluators::cpu {

/// Counts the work of one run's launches. Does not count fill and copy steps.
///
/// For every module, exact: "launches", "blocks", "threads", "barriers", "grid_barriers",
/// "warp_operations" (run_facts.h).
///
/// For instrumented modules, per run:
/// - "global_bytes_read", "global_bytes_written", "shared_bytes_read", "shared_bytes_written":
///   bytes of the threads' plain loads and stores, exact. Global memory is the buffers and the
///   module's variables, including `__constant__` ones;
/// - "atomics": read-modify-writes of threads, exact;
/// - "load_sectors_per_request", "store_sectors_per_request": average number of 32-byte sectors
///   that a warp's access to global memory touches (consecutive floats: 4), as if every buffer
///   began at a multiple of 256 bytes;
/// - "load_access_bytes", "store_access_bytes": average number of bytes in a thread's access to
///   global memory (a float4: 16);
/// - "shared_wavefronts": passes through shared memory;
/// - "shared_load_bank_conflicts", "shared_store_bank_conflicts", "shared_bank_conflicts" (both):
///   passes beyond the ideal.
///
/// The averages and the shared memory counters come from a sample: "access_sample_pct" percent of
/// the accesses (access_counter.h), which is 100 on small grids. The instrumented code is compiled
/// with -O1; a GPU's compiler may keep more in registers.
class CountedRun {
public:
  /// Create it directly before the run: it counts from then on.
  CountedRun(const GuardedBuffers& buffers, bool instrumented);

  /// Makes the launch count accesses instead of checking them.
  void begin_launch(Launch& launch);
  /// Call it after the run. The report has no times and no number of passes.
  profiling::CounterReport report() const;

private:
  RunFactsSum facts_;
  std::optional<AccessCounter> accesses_; ///< for instrumented modules
};

} // namespace winnow::evaluators::cpu
