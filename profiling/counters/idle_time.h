#pragma once

#include "profiling/counters/counter_report.h"

namespace winnow::profiling {

/// CUPTI's range begins before the launch and ends after the wait, so percentages of elapsed time
/// are too low by what the device idled in it. Takes that out: those of memory by the range's GPU
/// time over `time_ns`, the median of timed runs; those of the multiprocessors by their elapsed
/// cycles over what `clock_mhz` makes in that time, and these cycles themselves. Does nothing where
/// one of these is not known.
void leave_out_idle_time(CounterReport& report, double time_ns, double clock_mhz);

} // namespace winnow::profiling
