#include "profiling/counters/amd_counters.h"

#include "profiling/counters/no_counters.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace winnow::profiling {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "librocprofiler-sdk.so";
constexpr const char* kVariable = "WINNOW_ROCPROFILER_LIBRARY";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

Availability why_not() {
  const std::vector<std::string> candidates = rocprofiler_candidates();
  const auto found = std::find_if(candidates.begin(), candidates.end(), exists);
  if (found != candidates.end()) {
    return Availability::no(
        fmt::format("rocprofiler-sdk is at {}, but Winnow does not read AMD's counters yet",
                    *found),
        "profile by hand: `rocprofv3 --pmc ...`");
  }
  return Availability::no(
      fmt::format("rocprofiler-sdk not found (looked for: {}), and Winnow does not read AMD's "
                  "counters yet",
                  fmt::join(candidates, ", ")),
      "install rocprofiler-sdk (ROCm 6.2 or later) and profile by hand: `rocprofv3 --pmc ...`");
}

} // namespace

std::vector<std::string> rocprofiler_candidates() {
  if (const std::string named = variable(kVariable); !named.empty()) {
    return {named};
  }
  std::vector<std::string> folders;
  if (const std::string rocm = variable("ROCM_PATH"); !rocm.empty()) {
    folders.push_back(rocm + "/lib");
  }
  std::istringstream path(variable("LD_LIBRARY_PATH"));
  for (std::string folder; std::getline(path, folder, ':');) {
    if (!folder.empty()) {
      folders.push_back(folder);
    }
  }
  folders.insert(folders.end(), {"/opt/rocm/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64"});
  std::vector<std::string> candidates;
  for (const std::string& folder : folders) {
    for (const char* suffix : {"", ".1", ".0"}) { // 1: ROCm 7, 0: ROCm 6
      candidates.push_back(fmt::format("{}/{}{}", folder, kLibrary, suffix));
    }
  }
  return candidates;
}

std::unique_ptr<CounterProvider> make_amd_counters() {
  return make_no_counters("amd", why_not());
}

} // namespace winnow::profiling
