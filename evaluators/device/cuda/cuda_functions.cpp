#include "evaluators/device/cuda/cuda_functions.h"

#include "base/error.h"
#include "base/function_finder.h"
#include "evaluators/device/cuda/cuda_driver.h"

#include <cstdlib>

#include <cuda.h>
#include <fmt/format.h>

namespace winnow::evaluators::cuda {
namespace {

constexpr int kOldestVersion = 12000; // the first with tensor maps and cuLaunchKernelEx
constexpr const char* kLibraryVariable = "WINNOW_CUDA_LIBRARY";
constexpr const char* kInstall =
    "install the NVIDIA driver (release 525 or later), or give the path "
    "of its libcuda.so.1 in WINNOW_CUDA_LIBRARY";

void require_all(const FunctionFinder& finder, const std::string& path) {
  if (!finder.missing().empty()) {
    throw DeviceUnavailable(fmt::format("{} has no function {}", path, finder.missing()), kInstall);
  }
}

struct Reason {
  std::string why;
  std::string remedy;
};

Reason why_not_initialised(int result) {
  switch (result) {
  case CUDA_ERROR_STUB_LIBRARY:
    return {"it is the toolkit's stub, not a driver", kInstall};
  case CUDA_ERROR_NO_DEVICE:
    return {
        "it sees no NVIDIA GPU",
        "check `nvidia-smi` and CUDA_VISIBLE_DEVICES; a container needs the /dev/nvidia* files"};
  case CUDA_ERROR_SYSTEM_NOT_READY:
    return {"the system is not ready (on machines with NVSwitch: no fabric manager runs)",
            "start nvidia-fabricmanager, check `nvidia-smi`"};
  case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    return {"the kernel driver and the library have different releases",
            "reboot after a driver update, or give a container the host's libcuda.so.1"};
  case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    return {"it is a forward-compatibility library, which this GPU does not support",
            "take the cuda-compat folder out of LD_LIBRARY_PATH"};
  default:
    return {fmt::format("cuInit fails with error {}", result),
            "check `nvidia-smi` and the kernel's log; a container needs the /dev/nvidia* files"};
  }
}

void require_started(const std::string& path, int result) {
  if (result != CUDA_SUCCESS) {
    const Reason reason = why_not_initialised(result);
    throw DeviceUnavailable(fmt::format("{}: {}", path, reason.why), reason.remedy);
  }
}

// Loads modules completely, so that nothing is loaded while a graph is recorded. Numbers the
// devices as nvidia-smi does. Leaves the JIT compiler enabled: Winnow's modules are machine code
// and do not need it, but without it CUPTI's counters fail (CUPTI_ERROR_UNKNOWN, seen with driver
// 580).
void set_environment() {
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
}

Functions load() {
  set_environment();
  Functions cuda;
  const char* named = std::getenv(kLibraryVariable);
  cuda.path = named != nullptr && *named != '\0' ? named : "libcuda.so.1";
  void* library = dlopen(cuda.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw DeviceUnavailable(fmt::format("cannot load the CUDA driver: {}", dlerror()), kInstall);
  }
  decltype(&::cuInit) init = nullptr;
  decltype(&::cuDriverGetVersion) get_version = nullptr;
  FunctionFinder finder(library);
  finder.find(WINNOW_SYMBOL(cuInit), init);
  finder.find(WINNOW_SYMBOL(cuDriverGetVersion), get_version);
  require_all(finder, cuda.path);
  require_started(cuda.path, get_version(&cuda.driver_version));
  if (cuda.driver_version < kOldestVersion) {
    throw DeviceUnavailable(fmt::format("{} is a driver for {}, but Winnow needs {} or later",
                                        cuda.path, version_text(cuda.driver_version),
                                        version_text(kOldestVersion)),
                            "update the NVIDIA driver to release 525 or later");
  }
  require_started(cuda.path, init(0));
#define WINNOW_CUDA_FIND(name) finder.find(WINNOW_SYMBOL(name), cuda.name);
  WINNOW_CUDA_FUNCTIONS(WINNOW_CUDA_FIND)
#undef WINNOW_CUDA_FIND
  finder.find("cuEventElapsedTime", cuda.elapsed_time);
  require_all(finder, cuda.path);
  return cuda;
}

std::string text_of(decltype(&::cuGetErrorName) get_text, CUresult result, const char* otherwise) {
  const char* text = nullptr;
  return get_text(result, &text) == CUDA_SUCCESS && text != nullptr ? text : otherwise;
}

} // namespace

const Functions& functions() {
  static const Functions loaded = load();
  return loaded;
}

void check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) {
    return;
  }
  const Functions& cuda = functions();
  const ErrorClass what = classify(result);
  throw GpuError(call,
                 text_of(cuda.cuGetErrorName, result,
                         fmt::format("CUresult {}", static_cast<int>(result)).c_str()),
                 text_of(cuda.cuGetErrorString, result, "unknown to this driver"), what.failure,
                 what.sticky);
}

std::string version_text(int driver_version) {
  return fmt::format("CUDA {}.{}", driver_version / 1000, driver_version % 1000 / 10);
}

ErrorClass classify(int result) {
  static const std::vector<ErrorMeaning> kMeanings{
      // Errors of a running kernel. cuda.h says of them: "the context cannot be used (and the
      // process must be terminated)".
      {{GpuFailure::IllegalAddress, true}, {CUDA_ERROR_ILLEGAL_ADDRESS}},
      {{GpuFailure::Misaligned, true}, {CUDA_ERROR_MISALIGNED_ADDRESS}},
      {{GpuFailure::Assertion, true}, {CUDA_ERROR_ASSERT}},
      {{GpuFailure::LaunchTimeout, true}, {CUDA_ERROR_LAUNCH_TIMEOUT}},
      {{GpuFailure::Trap, true},
       {CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ILLEGAL_INSTRUCTION,
        CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC,
        CUDA_ERROR_LAUNCH_FAILED, // __trap(), an access outside of shared memory
        721}},                    // CUDA_ERROR_TENSOR_MEMORY_LEAK, not in the headers of CUDA 12
      {{GpuFailure::DeviceLost, true},
       {CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_DEINITIALIZED, CUDA_ERROR_DEVICE_UNAVAILABLE,
        CUDA_ERROR_NO_DEVICE, CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_ECC_UNCORRECTABLE,
        CUDA_ERROR_NVLINK_UNCORRECTABLE,
        226, // CUDA_ERROR_CONTAINED, not in the headers of CUDA 12
        CUDA_ERROR_OPERATING_SYSTEM, CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_SYSTEM_NOT_READY,
        CUDA_ERROR_MPS_CLIENT_TERMINATED, CUDA_ERROR_UNKNOWN}},
      // Refused calls.
      {{GpuFailure::InvalidLaunch},
       {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_NOT_SUPPORTED,
        CUDA_ERROR_INVALID_CLUSTER_SIZE}},
      {{GpuFailure::CooperativeSize}, {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE}},
      {{GpuFailure::OutOfMemory}, {CUDA_ERROR_OUT_OF_MEMORY}},
      {{GpuFailure::BadModule},
       {CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_INVALID_PTX,
        CUDA_ERROR_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
        CUDA_ERROR_JIT_COMPILATION_DISABLED, CUDA_ERROR_INVALID_SOURCE,
        CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
        CUDA_ERROR_NOT_FOUND}}};
  return evaluators::classify(result, kMeanings);
}

} // namespace winnow::evaluators::cuda
