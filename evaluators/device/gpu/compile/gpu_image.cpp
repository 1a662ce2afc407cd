#include "evaluators/device/gpu/compile/gpu_image.h"

#include "base/digest.h"
#include "evaluators/device/cuda/compile/nvrtc.h"
#include "evaluators/device/hip/compile/hiprtc.h"
#include "evaluators/device/inspect/code_object.h"
#include "evaluators/device/inspect/cubin.h"
#include "evaluators/device/inspect/cubin_findings.h"
#include "evaluators/device/inspect/entry_symbols.h"
#include "evaluators/device/inspect/module_features.h"
#include "evaluators/device/inspect/module_findings.h"
#include "evaluators/device/inspect/ptxas_log.h"

#include <utility>

namespace winnow::evaluators {

std::unique_ptr<RuntimeCompiler> open_runtime_compiler(const GpuToolchain& toolchain) {
  return toolchain.kind == "hip" ? open_hiprtc()
                                 : open_nvrtc(toolchain.library, toolchain.builtins);
}

namespace {

// True for the symbol with which hipcc marks a compilation unit.
bool is_unit_mark(const std::string& symbol) {
  return symbol.rfind("__hip_cuid_", 0) == 0;
}

// A kernel can read every byte of its image, even names, and behave differently because of it. So
// the digest covers all bytes. Two files that differ only in names then count as different, which
// costs only a run.
std::string digest_of(const RuntimeCompileOutput& output, const std::vector<std::string>& kernels) {
  std::string text;
  for (const std::string& kernel : kernels) {
    text += symbol_of(output.symbols, kernel) + "\n";
  }
  text.append(reinterpret_cast<const char*>(output.image.data()), output.image.size());
  return sha256_hex(text);
}

} // namespace

GpuImageFacts read_gpu_image(const std::string& kind, const std::string& architecture,
                             const RuntimeCompileOutput& output,
                             const std::vector<std::string>& kernels, std::size_t constants) {
  const ElfReader image(
      std::string(reinterpret_cast<const char*>(output.image.data()), output.image.size()));
  GpuImageFacts facts;
  facts.machine_code_digest = digest_of(output, kernels);
  facts.signatures = read_signatures(image, kernels.size());
  facts.constants = read_constants(image, constants);
  if (kind == "hip") {
    facts.kernels = read_code_object_resources(image, kernels, output.symbols);
    facts.findings = writable_variables(image, is_unit_mark);
    facts.features = {kernel_count(kernels.size())};
  } else {
    facts.kernels = read_cubin_resources(image, kernels, output.symbols, output.log);
    facts.advice = read_ptxas_advice(output.log);
    facts.findings = inspect_cubin(image, output.symbols, architecture, output.ptx);
    facts.features = cubin_features(image, architecture, kernels.size());
  }
  const std::vector<tasks::Finding> local = local_memory(facts.kernels);
  facts.findings.insert(facts.findings.end(), local.begin(), local.end());
  facts.findings = shorten(std::move(facts.findings));
  return facts;
}

} // namespace winnow::evaluators
