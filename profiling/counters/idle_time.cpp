#include "profiling/counters/idle_time.h"

#include <algorithm>
#include <initializer_list>

namespace winnow::profiling {
namespace {

void scale(CounterReport& report, std::initializer_list<const char*> keys, double factor) {
  constexpr double kWhole = 100;
  for (const char* key : keys) {
    const auto found = report.counters.find(key);
    if (found != report.counters.end() && found->second.value && factor > 1) {
      found->second.value = std::min(kWhole, *found->second.value * factor);
    }
  }
}

} // namespace

void leave_out_idle_time(CounterReport& report, double time_ns, double clock_mhz) {
  const std::optional<double> range_ns = report.value("gpu_time_ns");
  const std::optional<double> cycles = report.value("sm_cycles");
  if (!(time_ns > 0)) {
    return;
  }
  if (range_ns) {
    scale(report, {"dram_throughput_pct", "l2_throughput_pct"}, *range_ns / time_ns);
  }
  const double busy_cycles = clock_mhz * 1e-3 * time_ns;
  if (cycles && busy_cycles > 0 && *cycles > busy_cycles) {
    scale(report, {"l1_throughput_pct", "sm_throughput_pct"}, *cycles / busy_cycles);
    report.counters["sm_cycles"].value = busy_cycles;
  }
}

} // namespace winnow::profiling
