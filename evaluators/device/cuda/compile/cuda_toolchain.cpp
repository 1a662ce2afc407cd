#include "base/error.h"
#include "evaluators/device/cuda/compile/nvrtc.h"
#include "evaluators/device/cuda/compile/nvrtc_library.h"
#include "evaluators/device/inspect/cubin.h"
#include "evaluators/device/inspect/cubin_findings.h"
#include "evaluators/device/inspect/module_features.h"
#include "evaluators/device/inspect/ptxas_log.h"

namespace winnow::evaluators {
namespace {

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

} // namespace

GpuToolchain find_cuda_toolchain(const std::string& architecture) {
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

std::unique_ptr<RuntimeCompiler> open_cuda_compiler(const GpuToolchain& toolchain) {
  return open_nvrtc(toolchain.library, toolchain.builtins);
}

void read_cuda_image(const CompiledImage& image, GpuImageFacts& facts) {
  const auto& [elf, architecture, output, kernels] = image;
  facts.kernels = read_cubin_resources(elf, kernels, output.symbols, output.log);
  facts.advice = read_ptxas_advice(output.log);
  facts.findings = inspect_cubin(elf, output.symbols, architecture, output.ptx);
  facts.features = cubin_features(elf, architecture, kernels.size());
}

} // namespace winnow::evaluators
