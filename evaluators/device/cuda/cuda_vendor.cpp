#include "evaluators/device/cuda/compile/nvrtc.h"
#include "evaluators/device/cuda/cuda_driver.h"
#include "evaluators/device/cuda/cuda_library.h"
#include "profiling/counters/cupti_provider.h"

namespace winnow::evaluators {
namespace {

constexpr const char* kCudaVariables[] = {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"};
constexpr Disassembler kCudaDisassemblers[] = {
    {"nvdisasm", {"-c", nullptr}, "they come with the CUDA toolkit"},
    {"cuobjdump", {"-sass", nullptr}, "they come with the CUDA toolkit"}};

} // namespace

constinit const GpuVendor kCudaVendor{
    .kind = "cuda",
    .gpu = "an NVIDIA GPU",
    .status_program = "nvidia-smi",
    .library_variable = "WINNOW_CUDA_LIBRARY",
    .variables = kCudaVariables,
    .probe_devices = probe_cuda_devices,
    .open_driver = open_cuda_driver,
    .open_library = open_cuda_library,
    .open_counters = profiling::make_cupti_counters,
    .compiler = "nvrtc",
    .probe_compiler = probe_nvrtc,
    .architecture_facts = cuda_architecture_facts,
    .usual_architecture = "sm_90a",
    .find_toolchain = find_cuda_toolchain,
    .compiler_options = nvrtc_options,
    .open_compiler = open_cuda_compiler,
    .read_image = read_cuda_image,
    .disassemblers = kCudaDisassemblers,
    .compiler_writes_files = false,
    .lacks_inline_ptx = false,
};

} // namespace winnow::evaluators
