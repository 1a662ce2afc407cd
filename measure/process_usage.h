#pragma once

#include <cstdint>
#include <filesystem>

namespace winnow::measure {

/// What a process has used so far, from /proc. All 0: there is no such process.
struct ProcessUsage {
  double cpu_seconds = 0; ///< user and system time of all its threads
  double resident_mb = 0; ///< 10^6 bytes
};
ProcessUsage usage_of(int pid);

/// CPU seconds of one thread of this process. 0: there is no such thread.
double cpu_seconds_of_thread(int thread);
/// User and system time of this process so far, more exact than usage_of().
double own_cpu_seconds();

/// All files below a folder, in 10^6 bytes. Files that vanish meanwhile do not count.
double megabytes_below(const std::filesystem::path& folder);

/// A SQLite file with its log, in 10^6 bytes.
double megabytes_of_store(const std::filesystem::path& store);

} // namespace winnow::measure
