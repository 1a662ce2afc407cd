#pragma once

#include "profiling/counters/counter_report.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace winnow::profiling {

/// One event that Linux counts for a thread (perf_event_open(2)).
struct CpuEvent {
  std::string_view key; ///< in a CounterReport: "cpu_instructions"
  std::uint32_t type;   ///< perf_event_attr's
  std::uint64_t config;
  double scale = 1; ///< value = scale * count
};

/// Instructions, cycles, cache misses, branch misses (user mode), task clock in ms, page faults.
std::span<const CpuEvent> cpu_events();

/// What read(2) of an event gives, in this order. Times in ns: how long the event was wanted, and
/// how long a hardware counter was there for it.
struct CpuEventReading {
  std::uint64_t count = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
};

/// The count over the whole time when counters were shared with others: count * enabled / running.
/// nullopt when it was wanted but never ran.
std::optional<double> scaled_count(const CpuEventReading& reading);

/// Why perf_event_open failed with `error`, and what to do. `paranoid` is the content of
/// /proc/sys/kernel/perf_event_paranoid, `filtered` whether a seccomp filter is on this process.
std::string explain_cpu_event_error(int error, std::optional<int> paranoid, bool filtered);

/// Counts from construction on what this process's threads do, those included that they start
/// later. Where the system forbids it or has no such counter, a counter has no value but a reason:
/// never throws. In the fences of workers perf_event_open is forbidden, and meant to be.
class CpuEventCounts {
public:
  /// Returns a descriptor to read a CpuEventReading from, or -errno.
  using Open = std::function<int(const CpuEvent&, pid_t thread)>;

  CpuEventCounts();
  /// With another way of opening, for tests; one call per event and thread.
  CpuEventCounts(const Open& open, const std::vector<pid_t>& threads);
  ~CpuEventCounts();
  CpuEventCounts(const CpuEventCounts&) = delete; // owns descriptors
  CpuEventCounts& operator=(const CpuEventCounts&) = delete;

  /// Since construction, by key; every event of cpu_events() is there.
  std::map<std::string, CounterValue> read() const;

private:
  struct Opened {
    std::vector<int> descriptors; ///< one a thread
    int error = 0;                ///< why there are none
  };
  static Opened open_event(const CpuEvent& event, const Open& open,
                           const std::vector<pid_t>& threads);
  static CounterValue read_event(const CpuEvent& event, const Opened& opened);

  std::vector<Opened> opened_; ///< parallel to cpu_events()
};

} // namespace winnow::profiling
