#include "profiling/power/rapl.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace winnow::profiling {
namespace fs = std::filesystem;
namespace {

std::optional<double> number_in(const fs::path& path) {
  std::ifstream file(path);
  double value = 0;
  if (file >> value && value >= 0) {
    return value;
  }
  return std::nullopt;
}

std::string line_in(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::vector<fs::path> package_directories(const fs::path& root) {
  std::vector<fs::path> found;
  std::error_code code;
  for (fs::directory_iterator entry(root, code), end; !code && entry != end;
       entry.increment(code)) {
    // intel-rapl-mmio shows the same packages a second time.
    const std::string name = entry->path().filename().string();
    if (name.rfind("intel-rapl:", 0) == 0 &&
        line_in(entry->path() / "name").rfind("package-", 0) == 0) {
      found.push_back(entry->path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

Availability unreadable(const fs::path& file) {
  errno = 0;
  const bool opens = std::ifstream(file).good();
  const int error = errno;
  return Availability::no(
      fmt::format("{}: cannot be read: {}", file.string(),
                  opens ? "no number in it" : std::strerror(error != 0 ? error : ENOENT)),
      "RAPL is for root alone since Linux 5.10: run as root, or `chmod a+r` the file where all "
      "users of the machine are trusted");
}

} // namespace

CpuEnergy::CpuEnergy(const fs::path& root) {
  const std::vector<fs::path> directories = package_directories(root);
  if (directories.empty()) {
    availability_ = Availability::no(
        fmt::format("{} has no RAPL packages (intel-rapl:N)", root.string()),
        "load the module intel_rapl_msr; virtual machines and containers often have none");
    return;
  }
  for (const fs::path& directory : directories) {
    const fs::path file = directory / "energy_uj";
    if (!number_in(file)) {
      availability_ = unreadable(file);
      packages_.clear();
      return;
    }
    packages_.push_back({file, number_in(directory / "max_energy_range_uj").value_or(0), {}, 0});
  }
  availability_ = Availability::yes(
      fmt::format("RAPL, {} package{}", packages_.size(), packages_.size() == 1 ? "" : "s"));
}

std::optional<double> CpuEnergy::energy_mj() {
  if (packages_.empty()) {
    return std::nullopt;
  }
  double sum_uj = 0;
  for (Package& package : packages_) {
    const std::optional<double> now = number_in(package.energy_file);
    if (!now) {
      return std::nullopt;
    }
    double gone = *now - package.last_uj.value_or(*now);
    if (gone < 0) {
      if (package.range_uj <= 0) {
        return std::nullopt; // where it wrapped is not known
      }
      gone += package.range_uj;
    }
    package.last_uj = now;
    package.sum_uj += gone;
    sum_uj += package.sum_uj;
  }
  return sum_uj / 1e3;
}

} // namespace winnow::profiling
