#include "measure/process_usage.h"

#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include <sys/resource.h>
#include <unistd.h>

namespace winnow::measure {
namespace {

constexpr double kMegabyte = 1e6;

/// The fields of a stat file of /proc behind the name of the program, which may contain spaces.
std::istringstream fields_after_name(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const auto end = line.rfind(')');
  return std::istringstream(end == std::string::npos ? "" : line.substr(end + 1));
}

double cpu_seconds_in(const std::string& path) {
  constexpr int kFieldsBefore = 11; // state to cmajflt: see proc(5)
  std::istringstream fields = fields_after_name(path);
  std::string skipped;
  for (int i = 0; i < kFieldsBefore; ++i) {
    fields >> skipped;
  }
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double megabytes_of(const std::filesystem::path& file) {
  std::error_code gone;
  const auto bytes = std::filesystem::file_size(file, gone);
  return gone ? 0 : static_cast<double>(bytes) / kMegabyte;
}

} // namespace

ProcessUsage usage_of(int pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  ProcessUsage usage;
  usage.cpu_seconds = cpu_seconds_in(folder + "/stat");
  std::ifstream memory(folder + "/statm");
  double all = 0, resident = 0;
  memory >> all >> resident;
  usage.resident_mb = resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / kMegabyte;
  return usage;
}

double cpu_seconds_of_thread(int thread) {
  return cpu_seconds_in("/proc/self/task/" + std::to_string(thread) + "/stat");
}

double megabytes_below(const std::filesystem::path& folder) {
  double megabytes = 0;
  std::error_code gone;
  std::filesystem::recursive_directory_iterator entry(folder, gone);
  while (!gone && entry != std::filesystem::recursive_directory_iterator()) {
    if (entry->is_regular_file(gone)) {
      megabytes += megabytes_of(entry->path());
    }
    entry.increment(gone);
  }
  return megabytes;
}

double megabytes_of_store(const std::filesystem::path& store) {
  return megabytes_of(store) + megabytes_of(store.string() + "-wal");
}

double own_cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

} // namespace winnow::measure
