#pragma once

#include "base/availability.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace winnow::profiling {

/// Energy of the CPU packages, from Linux's powercap files (RAPL; Intel and AMD). Only what is
/// called "package-N" counts: "psys" holds the packages, "core" and "uncore" are parts of them.
class CpuEnergy {
public:
  explicit CpuEnergy(const std::filesystem::path& root = "/sys/class/powercap");

  /// Not ok: no such files (virtual machines have none), or only root may read them.
  const Availability& availability() const { return availability_; }

  /// Since the first call, all packages together; nullopt when not available or when a file could
  /// not be read. The files' counters wrap (at some 200 W every 20 minutes): one wrap between two
  /// calls is seen, two are not.
  std::optional<double> energy_mj();

private:
  struct Package {
    std::filesystem::path energy_file;
    double range_uj = 0; ///< where the counter wraps; 0: not known
    std::optional<double> last_uj;
    double sum_uj = 0;
  };

  std::vector<Package> packages_;
  Availability availability_;
};

} // namespace winnow::profiling
