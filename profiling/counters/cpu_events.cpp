#include "profiling/counters/cpu_events.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace winnow::profiling {
namespace {

constexpr double kMsPerNs = 1e-6;

constexpr CpuEvent kEvents[] = {
    {"cpu_instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cpu_cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"cpu_cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"cpu_branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"cpu_task_clock_ms", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, kMsPerNs},
    {"cpu_page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
};

int open_on_thread(const CpuEvent& event, pid_t thread) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1; // an ordinary user may count user mode only
  attributes.exclude_hv = 1;
  constexpr int kAnyCpu = -1;
  constexpr int kNoGroup = -1;
  const long descriptor =
      syscall(SYS_perf_event_open, &attributes, thread, kAnyCpu, kNoGroup, PERF_FLAG_FD_CLOEXEC);
  return descriptor < 0 ? -errno : static_cast<int>(descriptor);
}

/// `inherit` only covers threads that start later, so each running thread gets its own descriptor.
std::vector<pid_t> threads_of_this_process() {
  std::vector<pid_t> threads;
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc/self/task", error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    pid_t thread = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), thread).ec == std::errc()) {
      threads.push_back(thread);
    }
  }
  return threads.empty() ? std::vector<pid_t>{0} : threads; // 0: the calling thread
}

std::optional<int> paranoia() {
  std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
  int level = 0;
  return file >> level ? std::optional(level) : std::nullopt;
}

bool has_seccomp_filter() {
  std::ifstream file("/proc/self/status");
  std::string word;
  while (file >> word) {
    if (word == "Seccomp:") {
      return file >> word && word != "0";
    }
  }
  return false;
}

} // namespace

std::span<const CpuEvent> cpu_events() {
  return kEvents;
}

std::optional<double> scaled_count(const CpuEventReading& reading) {
  if (reading.running_ns == 0) {
    return reading.enabled_ns == 0 ? std::optional(0.0) : std::nullopt; // the thread never ran
  }
  return static_cast<double>(reading.count) * static_cast<double>(reading.enabled_ns) /
         static_cast<double>(reading.running_ns);
}

std::string explain_cpu_event_error(int error, std::optional<int> paranoid, bool filtered) {
  constexpr int kUserCounts = 2; // above this, no unprivileged process may count
  const bool forbidden = error == EPERM || error == EACCES;
  if (forbidden && paranoid && *paranoid > kUserCounts) {
    return fmt::format("kernel.perf_event_paranoid is {}, which forbids counting; set it to 2 or "
                       "less: sysctl kernel.perf_event_paranoid=2",
                       *paranoid);
  }
  if ((forbidden || error == ENOSYS) && filtered) {
    return "a system-call filter forbids perf_event_open: either Winnow's sandbox for workers or "
           "the default profile of a container; in a container, allow perf_event_open or add "
           "CAP_PERFMON";
  }
  if (forbidden) {
    return "perf_event_open is not permitted; run with CAP_PERFMON";
  }
  if (error == ENOSYS) {
    return "this kernel has no perf_event_open; it needs CONFIG_PERF_EVENTS";
  }
  if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP) {
    return "the processor has no such counter (usual in virtual machines); run without a virtual "
           "machine, or let the hypervisor pass the counters through";
  }
  return fmt::format("perf_event_open failed: {}", std::strerror(error));
}

CpuEventCounts::CpuEventCounts() : CpuEventCounts(open_on_thread, threads_of_this_process()) {}

CpuEventCounts::CpuEventCounts(const Open& open, const std::vector<pid_t>& threads) {
  for (const CpuEvent& event : kEvents) {
    opened_.push_back(open_event(event, open, threads));
  }
}

CpuEventCounts::~CpuEventCounts() {
  for (const Opened& event : opened_) {
    for (const int descriptor : event.descriptors) {
      close(descriptor);
    }
  }
}

CpuEventCounts::Opened CpuEventCounts::open_event(const CpuEvent& event, const Open& open,
                                                  const std::vector<pid_t>& threads) {
  Opened opened;
  for (const pid_t thread : threads) {
    const int descriptor = open(event, thread);
    if (descriptor >= 0) {
      opened.descriptors.push_back(descriptor);
    } else if (descriptor != -ESRCH) { // ESRCH: the thread has ended since the listing
      opened.error = -descriptor;
      break;
    }
  }
  if (opened.descriptors.empty() && opened.error == 0) {
    opened.error = ESRCH;
  }
  return opened;
}

CounterValue CpuEventCounts::read_event(const CpuEvent& event, const Opened& opened) {
  if (opened.error != 0) { // the sum over only some threads would mislead
    return {std::nullopt, explain_cpu_event_error(opened.error, paranoia(), has_seccomp_filter())};
  }
  double sum = 0;
  for (const int descriptor : opened.descriptors) {
    CpuEventReading reading;
    const ssize_t bytes = ::read(descriptor, &reading, sizeof(reading));
    if (bytes != static_cast<ssize_t>(sizeof(reading))) {
      return {std::nullopt, fmt::format("reading the event failed: {}",
                                        bytes < 0 ? std::strerror(errno) : "too few bytes")};
    }
    const std::optional<double> count = scaled_count(reading);
    if (!count) {
      return {std::nullopt, "the event got no hardware counter: another program uses the counters; "
                            "stop that program and count again"};
    }
    sum += *count;
  }
  return {sum * event.scale, {}};
}

std::map<std::string, CounterValue> CpuEventCounts::read() const {
  std::map<std::string, CounterValue> values;
  for (std::size_t i = 0; i < opened_.size(); ++i) {
    values.emplace(kEvents[i].key, read_event(kEvents[i], opened_[i]));
  }
  return values;
}

} // namespace winnow::profiling
