#include "evaluators/device/hip/hip_functions.h"

#include "base/error.h"

#include <cstdlib>

#include <dlfcn.h>
#include <fmt/format.h>

namespace winnow::evaluators::hip {
namespace {

constexpr const char* kRemedy =
    "install ROCm's HIP runtime, or name its library in WINNOW_HIP_LIBRARY; without an AMD GPU "
    "choose another --device";

// ROCm 4 and older number the device attributes differently.
constexpr const char* kLibraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};

void* open_library(const std::string& library, std::string& opened) {
  if (!library.empty()) {
    opened = library;
    return dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  for (const char* name : kLibraries) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
      opened = name;
      return handle;
    }
  }
  return nullptr;
}

template <class Pointer> void resolve(void* library, const char* name, Pointer& function) {
  function = reinterpret_cast<Pointer>(dlsym(library, name));
}

template <class Pointer>
void require(void* library, const char* name, Pointer& function, std::string& missing) {
  resolve(library, name, function);
  if (function == nullptr && missing.empty()) {
    missing = name;
  }
}

bool is_device_lost(Result result) {
  switch (result) {
  case 3:    // hipErrorNotInitialized
  case 4:    // hipErrorDeinitialized
  case 100:  // hipErrorNoDevice
  case 201:  // hipErrorInvalidContext
  case 214:  // hipErrorECCNotCorrectable
  case 304:  // hipErrorOperatingSystem
  case 709:  // hipErrorContextIsDestroyed
  case 999:  // hipErrorUnknown
  case 1052: // hipErrorRuntimeMemory
  case 1053: // hipErrorRuntimeOther
    return true;
  default:
    return false;
  }
}

// Classifies errors of a running kernel. Afterwards the runtime answers no call.
GpuFailure of_running_kernel(Result result) {
  switch (result) {
  case 700: // hipErrorIllegalAddress
    return GpuFailure::IllegalAddress;
  case 702: // hipErrorLaunchTimeOut
    return GpuFailure::LaunchTimeout;
  case 710: // hipErrorAssert
    return GpuFailure::Assertion;
  case 719: // hipErrorLaunchFailure: a trap or an illegal instruction
    return GpuFailure::Trap;
  default:
    return GpuFailure::Other;
  }
}

GpuFailure of_refused_call(Result result) {
  switch (result) {
  case 1:   // hipErrorInvalidValue
  case 9:   // hipErrorInvalidConfiguration
  case 12:  // hipErrorInvalidPitchValue
  case 701: // hipErrorLaunchOutOfResources
  case 801: // hipErrorNotSupported
    return GpuFailure::InvalidLaunch;
  case 720: // hipErrorCooperativeLaunchTooLarge
    return GpuFailure::CooperativeSize;
  case 2: // hipErrorOutOfMemory
    return GpuFailure::OutOfMemory;
  case 98:  // hipErrorInvalidDeviceFunction
  case 200: // hipErrorInvalidImage
  case 209: // hipErrorNoBinaryForGpu
  case 218: // hipErrorInvalidKernelFile
  case 300: // hipErrorInvalidSource
  case 301: // hipErrorFileNotFound
  case 302: // hipErrorSharedObjectSymbolNotFound
  case 303: // hipErrorSharedObjectInitFailed
  case 500: // hipErrorNotFound
    return GpuFailure::BadModule;
  default:
    return GpuFailure::Other;
  }
}

} // namespace

Functions load_functions(const std::string& library) {
  Functions hip;
  void* handle = open_library(library, hip.library);
  if (handle == nullptr) {
    const char* reason = dlerror();
    throw DeviceUnavailable(
        fmt::format("no HIP runtime: {}", library.empty() || reason == nullptr
                                              ? "libamdhip64.so.{7,6,5} cannot be loaded"
                                              : reason),
        kRemedy);
  }
  std::string missing;
#define WINNOW_HIP_REQUIRE(name, parameters) require(handle, #name, hip.name, missing);
#define WINNOW_HIP_RESOLVE(name, parameters) resolve(handle, #name, hip.name);
  WINNOW_HIP_FUNCTIONS(WINNOW_HIP_REQUIRE)
  WINNOW_HIP_OPTIONAL_FUNCTIONS(WINNOW_HIP_RESOLVE)
#undef WINNOW_HIP_RESOLVE
#undef WINNOW_HIP_REQUIRE
  require(handle, "hipGetErrorName", hip.hipGetErrorName, missing);
  require(handle, "hipGetErrorString", hip.hipGetErrorString, missing);
  if (!missing.empty()) {
    throw DeviceUnavailable(
        fmt::format("the HIP runtime {} is too old: it lacks {}", hip.library, missing), kRemedy);
  }
  return hip;
}

const Functions& functions() {
  static const Functions hip = [] {
    const char* library = std::getenv("WINNOW_HIP_LIBRARY");
    return load_functions(library == nullptr ? "" : library);
  }();
  return hip;
}

ErrorClass classify(Result result) {
  if (const GpuFailure failure = of_running_kernel(result); failure != GpuFailure::Other) {
    return {failure, true};
  }
  if (is_device_lost(result)) {
    return {GpuFailure::DeviceLost, true};
  }
  return {of_refused_call(result), false};
}

void check(const Functions& hip, Result result, const char* call) {
  if (result == kSuccess) {
    return;
  }
  const ErrorClass error = classify(result);
  throw GpuError(call, hip.hipGetErrorName(result), hip.hipGetErrorString(result), error.failure,
                 error.sticky);
}

} // namespace winnow::evaluators::hip
