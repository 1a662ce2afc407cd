#pragma once

#include "evaluators/device/cpu/runtime/access_counter.h"
#include "evaluators/device/cpu/runtime/launch.h"
#include "evaluators/device/cpu/runtime/run_facts.h"
#include "profiling/counters/counter_report.h"
#include "profiling/counters/cpu_events.h"

#include <map>
#include <optional>
#include <string>

namespace winnow::evaluators::cpu {

/// Counts what the launches of one run do; fill and copy steps are not counted. Any module:
/// "launches", "blocks", "threads", "barriers", "grid_barriers", "warp_operations" (run_facts.h),
/// all exact. Plain modules: what the processor counts (profiling/counters/cpu_events.h).
/// Instrumented ones, per run:
/// - "global_bytes_read", "global_bytes_written", "shared_bytes_read", "shared_bytes_written": what
///   the threads' plain loads and stores ask for, exact; global are buffers and the module's
///   variables, those in `__constant__` memory included;
/// - "atomics": read-modify-writes of threads, exact;
/// - "load_sectors_per_request", "store_sectors_per_request": 32-byte sectors a warp's access of
///   global memory touches on average (floats in a row: 4), as if every buffer began at a multiple
///   of 256 bytes;
/// - "load_access_bytes", "store_access_bytes": bytes of global memory that a thread asks for in
/// one
///   access, on average (a float4: 16);
/// - "shared_wavefronts", "shared_load_bank_conflicts", "shared_store_bank_conflicts",
///   "shared_bank_conflicts" (both): passes through shared memory, and those beyond the ideal.
/// The last three points come from "access_sample_pct" of the accesses (access_counter.h), which is
/// 100 on small grids. Their code is compiled with -O1: a GPU's compiler may keep more in
/// registers.
class CountedRun {
public:
  /// To be made just before the run: it counts from now on.
  CountedRun(const GuardedBuffers& buffers, bool instrumented);

  /// Has the launch counted; in place of checking it.
  void begin_launch(Launch& launch);
  /// Counters without times and passes, after the run.
  profiling::CounterReport report() const;

private:
  RunFactsSum facts_;
  std::optional<AccessCounter> accesses_;           ///< of an instrumented module
  std::optional<profiling::CpuEventCounts> events_; ///< of a plain one
};

} // namespace winnow::evaluators::cpu
