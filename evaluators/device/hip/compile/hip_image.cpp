#include "evaluators/device/hip/compile/hip_image.h"

#include "evaluators/device/inspect/code_object.h"
#include "evaluators/device/inspect/module_features.h"
#include "evaluators/device/inspect/module_findings.h"

namespace winnow::evaluators {
namespace {

// True for the symbol with which hipcc marks a compilation unit.
bool is_unit_mark(const std::string& symbol) {
  return symbol.rfind("__hip_cuid_", 0) == 0;
}

} // namespace

void read_hip_image(const CompiledImage& image, GpuImageFacts& facts) {
  facts.kernels = read_code_object_resources(image.elf, image.kernels, image.output.symbols);
  facts.findings = writable_variables(image.elf, is_unit_mark);
  facts.features = {kernel_count(image.kernels.size())};
}

} // namespace winnow::evaluators
