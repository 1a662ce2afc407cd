#pragma once

#include "profiling/counters/counter_report.h"

namespace winnow::profiling {

/// Corrects percentages of elapsed time. CUPTI's range begins before the launch and ends after the
/// wait, so the device is idle for part of it and the percentages are too low. `time_ns` is the
/// median of timed runs. Percentages of memory are multiplied by the range's GPU time / `time_ns`.
/// Percentages of multiprocessors are multiplied by the elapsed cycles / the cycles of `time_ns` at
/// `clock_mhz`, and the cycles are replaced by the latter. Does nothing if a value is not known.
void leave_out_idle_time(CounterReport& report, double time_ns, double clock_mhz);

} // namespace winnow::profiling
