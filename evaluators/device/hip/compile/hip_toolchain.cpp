#include "evaluators/device/hip/compile/hip_toolchain.h"

#include "base/error.h"
#include "base/text.h"
#include "evaluators/device/hip/compile/hiprtc.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace winnow::evaluators {

GpuToolchain find_hip_toolchain(const std::string& architecture) {
  const Availability availability = probe_hiprtc();
  if (!availability.ok) {
    throw Error("HIP code cannot be compiled: " + availability.why, availability.remedy);
  }
  const std::vector<std::string> known = hip_architectures(hiprtc_rocm_major());
  if (std::find(known.begin(), known.end(), architecture) == known.end()) {
    throw Error(fmt::format("'{}' is not an architecture that {} compiles for", architecture,
                            availability.detail),
                "it compiles for: " + join(known, ", "));
  }
  GpuToolchain toolchain{"hip", availability.detail, kHipPrelude, {}, {}, {}, {}};
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/opt", error)) {
    if (entry.path().filename().string().rfind("rocm", 0) == 0) {
      toolchain.readable.push_back(entry.path());
    }
  }
  return toolchain;
}

} // namespace winnow::evaluators
