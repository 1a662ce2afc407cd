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

/// An event that Linux counts per thread (perf_event_open(2)).
struct CpuEvent {
  std::string_view key; ///< in a CounterReport: "cpu_instructions"
  std::uint32_t type;   ///< perf_event_attr::type
  std::uint64_t config;
  double scale = 1; ///< value = scale * count
};

/// Instructions, cycles, cache misses, branch misses (user mode), task clock in ms, page faults.
std::span<const CpuEvent> cpu_events();

/// The result of read(2) for an event, in this order. Times in ns: how long the event was enabled,
/// and how long a hardware counter counted it.
struct CpuEventReading {
  std::uint64_t count = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
};

/// The extrapolated count if the hardware counters were shared: count * enabled / running. nullopt
/// if the event was enabled but never counted.
std::optional<double> scaled_count(const CpuEventReading& reading);

/// Why perf_event_open failed with `error`, and the remedy. `paranoid` is the content of
/// /proc/sys/kernel/perf_event_paranoid; `filtered` is true if this process has a seccomp filter.
std::string explain_cpu_event_error(int error, std::optional<int> paranoid, bool filtered);

/// Counts the events of all threads of this process from construction on, including threads that
/// start later. Never throws: if the system forbids an event or lacks it, the counter has a reason
/// instead of a value. The sandbox of a worker forbids perf_event_open on purpose.
class CpuEventCounts {
public:
  /// Returns a descriptor to read a CpuEventReading from, or -errno.
  using Open = std::function<int(const CpuEvent&, pid_t thread)>;

  CpuEventCounts();
  /// For tests: opens events through `open`, once per event and thread.
  CpuEventCounts(const Open& open, const std::vector<pid_t>& threads);
  ~CpuEventCounts();
  CpuEventCounts(const CpuEventCounts&) = delete; // owns descriptors
  CpuEventCounts& operator=(const CpuEventCounts&) = delete;

  /// The counts since construction, by key; contains every event of cpu_events().
  std::map<std::string, CounterValue> read() const;

private:
  struct Opened {
    std::vector<int> descriptors; ///< one per thread
    int error = 0;                ///< errno if there are no descriptors
  };
  static Opened open_event(const CpuEvent& event, const Open& open,
                           const std::vector<pid_t>& threads);
  static CounterValue read_event(const CpuEvent& event, const Opened& opened);

  std::vector<Opened> opened_; ///< parallel to cpu_events()
};

} // namespace winnow::profiling
