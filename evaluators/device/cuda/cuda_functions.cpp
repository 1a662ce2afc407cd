#include "evaluators/device/cuda/cuda_functions.h"

#include "base/error.h"
#include "base/function_finder.h"
#include "evaluators/device/cuda/cuda_errors.h"

#include <cstdlib>

#include <fmt/format.h>

namespace winnow::evaluators::cuda {
namespace {

constexpr int kOldestVersion = 12000; // the first with tensor maps and cuLaunchKernelEx
constexpr const char* kLibraryVariable = "WINNOW_CUDA_LIBRARY";
constexpr const char* kInstall =
    "install the NVIDIA driver (release 525 or later), or give the path "
    "of its libcuda.so.1 in WINNOW_CUDA_LIBRARY";

#define WINNOW_TEXT(name) #name
#define WINNOW_SYMBOL(name) WINNOW_TEXT(name) // after macro expansion: "cuMemAlloc_v2"

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

} // namespace winnow::evaluators::cuda
