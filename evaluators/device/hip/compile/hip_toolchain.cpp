#include "base/error.h"
#include "base/text.h"
#include "evaluators/device/hip/compile/hiprtc.h"
#include "evaluators/device/inspect/code_object.h"
#include "evaluators/device/inspect/module_features.h"
#include "evaluators/device/inspect/module_findings.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

// True for the symbol with which hipcc marks a compilation unit.
bool is_unit_mark(const std::string& symbol) {
  return symbol.rfind("__hip_cuid_", 0) == 0;
}

} // namespace

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

void read_hip_image(const CompiledImage& image, GpuImageFacts& facts) {
  facts.kernels = read_code_object_resources(image.elf, image.kernels, image.output.symbols);
  facts.findings = writable_variables(image.elf, is_unit_mark);
  facts.features = {kernel_count(image.kernels.size())};
}

} // namespace winnow::evaluators
