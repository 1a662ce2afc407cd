#include "evaluators/device/hip/compile/hiprtc.h"
#include "evaluators/device/hip/hip_driver.h"
#include "profiling/counters/counter_provider.h"

namespace winnow::evaluators {
namespace {

constexpr const char* kHipVariables[] = {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"};
constexpr Disassembler kHipDisassemblers[] = {
    {"llvm-objdump", {"-d", "--no-show-raw-insn"}, "it comes with ROCm, and with LLVM"}};

std::unique_ptr<profiling::CounterProvider> open_no_counters(void* /*context*/, int /*ordinal*/) {
  return profiling::make_no_counters(
      "amd", Availability::no("Winnow does not read the counters of AMD GPUs",
                              "profile by hand: `rocprofv3 --pmc ...`"));
}

std::vector<std::string> no_options(const std::string& /*architecture*/, bool /*fast_math*/) {
  return {};
}

std::unique_ptr<RuntimeCompiler> open_hiprtc_of(const GpuToolchain& /*toolchain*/) {
  return open_hiprtc();
}

} // namespace

constinit const GpuVendor kHipVendor{
    .kind = "hip",
    .gpu = "an AMD GPU",
    .status_program = "rocm-smi",
    .library_variable = "WINNOW_HIP_LIBRARY",
    .variables = kHipVariables,
    .probe_devices = probe_hip_devices,
    .open_driver = open_hip_driver,
    .open_library = nullptr,
    .open_counters = open_no_counters,
    .compiler = "hiprtc",
    .probe_compiler = probe_hiprtc,
    .architecture_facts = hip_architecture_facts,
    .usual_architecture = "gfx90a",
    .find_toolchain = find_hip_toolchain,
    .compiler_options = no_options,
    .open_compiler = open_hiprtc_of,
    .read_image = read_hip_image,
    .disassemblers = kHipDisassemblers,
    .compiler_writes_files = true,
    .lacks_inline_ptx = true,
};

} // namespace winnow::evaluators
