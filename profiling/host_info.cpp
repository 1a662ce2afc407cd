#include "profiling/host_info.h"

#include "base/text.h"
#include "profiling/json_members.h"

#include <fstream>
#include <string_view>

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace winnow::profiling {
namespace {

// The value of the first "key<separator>value" line of a file, without quotes.
std::string first_value(const char* path, std::string_view key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t end = line.find(separator);
    if (end != std::string::npos && trim(std::string_view(line).substr(0, end)) == key) {
      std::string_view value = trim(std::string_view(line).substr(end + 1));
      if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
        value = value.substr(1, value.size() - 2);
      }
      return std::string(value);
    }
  }
  return {};
}

unsigned usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) {
    return 1;
  }
  return static_cast<unsigned>(CPU_COUNT(&set));
}

HostInfo read_host_info() {
  HostInfo host;
  host.cpu_model = first_value("/proc/cpuinfo", "model name", ':');
  if (host.cpu_model.empty()) {
    host.cpu_model = "unnamed CPU";
  }
  host.cores = usable_cores();
  utsname system{};
  if (uname(&system) == 0) {
    host.kernel = fmt::format("{} {}", system.sysname, system.release);
  }
  host.distribution = first_value("/etc/os-release", "PRETTY_NAME", '=');
  constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
  host.memory_gib = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                    static_cast<double>(sysconf(_SC_PAGESIZE)) / kGib;
  return host;
}

} // namespace

const HostInfo& host_info() {
  static const HostInfo host = read_host_info();
  return host;
}

WINNOW_JSON_MEMBERS(HostInfo, cpu_model, cores, kernel, distribution, memory_gib)

} // namespace winnow::profiling
