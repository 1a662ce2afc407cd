#pragma once

#include "profiling/counters/counter_report.h"

#include <span>
#include <string_view>
#include <vector>

namespace winnow::profiling {

/// One counter that Winnow reads, under a key that is the same for every device.
struct CounterName {
  std::string_view key;      ///< "dram_throughput_pct"
  std::string_view metric;   ///< CUPTI's name, with its suffix
  std::string_view fallback; ///< for chips that lack `metric`; empty: there is none
  std::string_view unit;     ///< "%", "B", "ns", "1", "sectors", "warps", "cycles", "threads"
  std::string_view title;    ///< for a table
  CounterSet first;          ///< Fast: in both sets
  double scale = 1;          ///< value = scale * metric
};

/// Everything Winnow reads, in the order of a table. Every metric is also one of ncu's.
///
/// Passes (CUPTI 13.0's host API, no availability image): Fast, 9 counters: 1 on GH100, GA100,
/// AD102, GB100 and GB202. Full, 36 counters: 7 on GH100, GA100 and GB100, 8 on AD102 and GB202.
/// That is because no `sm__throughput` or `l1tex__throughput` is in it, which cost 8 and 5 passes
/// alone: the pipes and stages that such a maximum is taken of are read by themselves. The stalls
/// share three passes; branch uniformity, counted by instrumented code, needs one to itself.
std::span<const CounterName> counter_names();

/// Those that `set` asks for, in the same order.
std::vector<CounterName> counters_in(CounterSet set);

/// Those of the CPU device, too. nullptr when there is none with this key.
const CounterName* find_counter(std::string_view key);

} // namespace winnow::profiling
