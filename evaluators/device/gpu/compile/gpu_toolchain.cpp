#include "evaluators/device/gpu/compile/gpu_toolchain.h"

#include "base/error.h"
#include "base/text.h"
#include "evaluators/device/cuda/compile/nvrtc_library.h"
#include "evaluators/device/hip/compile/hiprtc.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

namespace fs = std::filesystem;

// Accepts sm_75, sm_90a, sm_120f.
bool is_cuda_architecture(const std::string& name) {
  constexpr std::string_view kStart = "sm_";
  if (name.rfind(kStart, 0) != 0 || name.size() < kStart.size() + 2) {
    return false;
  }
  std::string digits = name.substr(kStart.size());
  if (digits.back() == 'a' || digits.back() == 'f') {
    digits.pop_back();
  }
  return digits.size() >= 2 && digits.find_first_not_of("0123456789") == std::string::npos;
}

GpuToolchain find_cuda(const std::string& architecture) {
  if (!is_cuda_architecture(architecture)) {
    throw Error("'" + architecture + "' is not an NVIDIA architecture",
                "write an architecture such as sm_90a");
  }
  const NvrtcSearch search = find_nvrtc();
  if (!search.installation) {
    throw Error("CUDA code cannot be compiled: " + search.availability.why,
                search.availability.remedy);
  }
  const NvrtcInstallation& found = *search.installation;
  GpuToolchain toolchain{"cuda",         found.version,  "winnow_cuda.h",
                         found.library,  found.builtins, found.include_directories,
                         {found.library}};
  if (!found.builtins.empty()) {
    toolchain.readable.push_back(found.builtins);
  }
  return toolchain;
}

GpuToolchain find_hip(const std::string& architecture) {
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
  for (const auto& entry : fs::directory_iterator("/opt", error)) {
    if (entry.path().filename().string().rfind("rocm", 0) == 0) {
      toolchain.readable.push_back(entry.path());
    }
  }
  return toolchain;
}

} // namespace

GpuToolchain find_gpu_toolchain(const std::string& kind, const std::string& architecture) {
  if (kind == "cuda") {
    return find_cuda(architecture);
  }
  if (kind == "hip") {
    return find_hip(architecture);
  }
  throw Error("no run-time compiler for device kind '" + kind + "'");
}

} // namespace winnow::evaluators
