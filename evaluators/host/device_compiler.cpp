#include "evaluators/host/device_compiler.h"

#include "evaluators/device/cpu/compile/cpu_compiler.h"
#include "evaluators/device/gpu/compile/gpu_compiler.h"
#include "evaluators/device/vendors/gpu_vendors.h"

#include <algorithm>

namespace winnow::evaluators {

std::unique_ptr<Compiler> make_compiler(const DeviceReport& device, const process::Sandbox& sandbox,
                                        const MachineOptions& machine,
                                        const std::filesystem::path& cache) {
  if (device.kind == "cpu") {
    CpuCompilerOptions compiler;
    compiler.cache = cache;
    compiler.timeout = machine.compile_timeout;
    compiler.memory_bytes = machine.memory_bytes;
    return make_cpu_compiler(sandbox, compiler);
  }
  GpuCompilerOptions compiler;
  compiler.vendor = &gpu_vendor(device.kind);
  compiler.architecture = device.facts.architecture;
  compiler.cache = cache;
  compiler.timeout = machine.compile_timeout;
  compiler.memory_bytes = std::max(compiler.memory_bytes, machine.memory_bytes);
  return make_gpu_compiler(sandbox, compiler);
}

} // namespace winnow::evaluators
