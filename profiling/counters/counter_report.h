#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::profiling {

enum class CounterSet {
  Fast, ///< one pass: for every correct candidate
  Full, ///< all counters, several passes: for a profile
};

/// One counter of one run. A counter that could not be read has no value but a reason. Its value is
/// never 0 instead, and never that of another counter.
struct CounterValue {
  std::optional<double> value;
  std::string reason; ///< why there is no value; else empty
};

/// The counters of one run of a kernel. The keys are Winnow's own (counter_names.h:
/// "dram_throughput_pct"), the same for every kind of device.
struct CounterReport {
  std::string provider;    ///< "cupti", "cpu", "amd"
  std::string unavailable; ///< why there are no counters at all; else empty
  std::map<std::string, CounterValue> counters;
  int passes = 0;        ///< number of runs of the kernel
  double setup_ms = 0;   ///< once per worker and set of counters; 0: done before
  double collect_ms = 0; ///< all passes, including restoring the inputs

  /// nullopt if the counter is absent or has no value.
  std::optional<double> value(std::string_view key) const;
};

void to_json(nlohmann::json& json, const CounterReport& report);
/// Throws nlohmann exceptions.
void from_json(const nlohmann::json& json, CounterReport& report);

/// Corrects percentages of elapsed time. CUPTI's range begins before the launch and ends after the
/// wait, so the device is idle for part of it and the percentages are too low. `time_ns` is the
/// median of timed runs. Percentages of memory are multiplied by the range's GPU time / `time_ns`.
/// Percentages of multiprocessors are multiplied by the elapsed cycles / the cycles of `time_ns` at
/// `clock_mhz`. `time_ns` replaces the GPU time, and its cycles replace the elapsed ones. Does
/// nothing if a value is not known.
void leave_out_idle_time(CounterReport& report, double time_ns, double clock_mhz);

} // namespace winnow::profiling
