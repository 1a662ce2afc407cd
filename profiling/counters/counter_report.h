#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::profiling {

enum class CounterSet {
  Fast, ///< one pass: for every surviving candidate
  Full, ///< about 25 counters, several passes: for a profile
};

/// One counter of one run. A counter that could not be read has no value and says why; it is never
/// 0 and never the value of another counter.
struct CounterValue {
  std::optional<double> value;
  std::string reason; ///< why there is no value; empty when there is one
};

/// What a run of a kernel did, as the device's counters tell it. Keys are Winnow's own
/// (counter_names.h: "dram_throughput_pct"), the same for every kind of device.
struct CounterReport {
  std::string provider;    ///< "cupti", "cpu", "amd"
  std::string unavailable; ///< why there are no counters at all; empty: there are
  std::map<std::string, CounterValue> counters;
  int passes = 0;        ///< runs of the kernel that it took
  double setup_ms = 0;   ///< once a worker and set of counters; 0: was there already
  double collect_ms = 0; ///< all passes, with restoring inputs between them

  /// nullopt when the counter is absent or has no value.
  std::optional<double> value(std::string_view key) const;
};

void to_json(nlohmann::json& json, const CounterReport& report);
/// Throws nlohmann exceptions.
void from_json(const nlohmann::json& json, CounterReport& report);

} // namespace winnow::profiling
