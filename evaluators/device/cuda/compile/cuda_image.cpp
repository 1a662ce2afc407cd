#include "evaluators/device/cuda/compile/cuda_image.h"

#include "evaluators/device/inspect/cubin.h"
#include "evaluators/device/inspect/cubin_findings.h"
#include "evaluators/device/inspect/module_features.h"
#include "evaluators/device/inspect/ptxas_log.h"

namespace winnow::evaluators {

void read_cuda_image(const CompiledImage& image, GpuImageFacts& facts) {
  const auto& [elf, architecture, output, kernels] = image;
  facts.kernels = read_cubin_resources(elf, kernels, output.symbols, output.log);
  facts.advice = read_ptxas_advice(output.log);
  facts.findings = inspect_cubin(elf, output.symbols, architecture, output.ptx);
  facts.features = cubin_features(elf, architecture, kernels.size());
}

} // namespace winnow::evaluators
