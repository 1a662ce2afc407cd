#pragma once

#include "profiling/counters/counter_report.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::profiling {

/// A counter with the same key on every device.
struct CounterName {
  std::string_view key;      ///< "dram_throughput_pct"
  std::string_view metric;   ///< the name in CUPTI, with its suffix
  std::string_view fallback; ///< for chips without `metric`; empty: none
  std::string_view unit;     ///< "%", "B", "ns", "1", "sectors", "warps", "cycles", "threads"
  std::string_view title;    ///< for a table
  CounterSet first;          ///< Fast: in both sets
  double scale = 1;          ///< value = scale * metric
};

/// All counters that Winnow reads, in the order of a table. ncu has every metric, too.
///
/// Passes (CUPTI 13.0's host API, no availability image): Fast, 9 counters: 1 on GH100, GA100,
/// AD102, GB100 and GB202. Full, 37 counters: 6 on GA100 and GB100, 7 on GH100, AD102 and GB202.
/// The list avoids `sm__throughput` (8 passes alone) and `l1tex__throughput` (5 passes); it has the
/// pipes and stages from which these maxima are computed. The stalls share three passes. It has no
/// metric for which CUPTI instruments the code (`smsp__sass_*`).
std::span<const CounterName> counter_names();

/// The counters of `set`, in the same order.
std::vector<CounterName> counters_in(CounterSet set);

/// Finds a counter by key, those of the CPU device included. nullptr if the key is unknown.
const CounterName* find_counter(std::string_view key);

/// The value as text for people: "87 %", "412 MB", "45.2 us", "12.3", "1.2e+06". `unit` as in
/// CounterName.
std::string counter_text(double value, std::string_view unit);

} // namespace winnow::profiling
