#include "evaluators/device/gpu/compile/gpu_image.h"

#include "base/digest.h"
#include "evaluators/device/inspect/entry_symbols.h"
#include "evaluators/device/inspect/module_findings.h"

#include <utility>

namespace winnow::evaluators {
namespace {

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

GpuImageFacts read_gpu_image(const GpuVendor& vendor, const std::string& architecture,
                             const RuntimeCompileOutput& output,
                             const std::vector<std::string>& kernels, std::size_t constants) {
  const ElfReader image(
      std::string(reinterpret_cast<const char*>(output.image.data()), output.image.size()));
  GpuImageFacts facts;
  facts.machine_code_digest = digest_of(output, kernels);
  facts.signatures = read_signatures(image, kernels.size());
  facts.constants = read_constants(image, constants);
  vendor.read_image({image, architecture, output, kernels}, facts);
  const std::vector<tasks::Finding> local = local_memory(facts.kernels);
  facts.findings.insert(facts.findings.end(), local.begin(), local.end());
  facts.findings = shorten(std::move(facts.findings));
  return facts;
}

} // namespace winnow::evaluators
