#include "evaluators/device/hip/hip_functions.h"

#include "base/error.h"
#include "base/function_finder.h"

#include <cstdlib>

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
  FunctionFinder finder(handle);
#define WINNOW_HIP_FIND(name, parameters) finder.find(#name, hip.name);
#define WINNOW_HIP_FIND_IF_THERE(name, parameters) finder.find_if_there(#name, hip.name);
  WINNOW_HIP_FUNCTIONS(WINNOW_HIP_FIND)
  WINNOW_HIP_OPTIONAL_FUNCTIONS(WINNOW_HIP_FIND_IF_THERE)
#undef WINNOW_HIP_FIND_IF_THERE
#undef WINNOW_HIP_FIND
  finder.find("hipGetErrorName", hip.hipGetErrorName);
  finder.find("hipGetErrorString", hip.hipGetErrorString);
  if (!finder.missing().empty()) {
    throw DeviceUnavailable(
        fmt::format("the HIP runtime {} is too old: it lacks {}", hip.library, finder.missing()),
        kRemedy);
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
  static const std::vector<ErrorMeaning> kMeanings{
      // Errors of a running kernel. Afterwards the runtime answers no call.
      {{GpuFailure::IllegalAddress, true}, {700}}, // hipErrorIllegalAddress
      {{GpuFailure::LaunchTimeout, true}, {702}},  // hipErrorLaunchTimeOut
      {{GpuFailure::Assertion, true}, {710}},      // hipErrorAssert
      {{GpuFailure::Trap, true}, {719}}, // hipErrorLaunchFailure: a trap or an illegal instruction
      // hipErrorNotInitialized, Deinitialized, NoDevice, InvalidContext, ECCNotCorrectable,
      // OperatingSystem, ContextIsDestroyed, Unknown, RuntimeMemory, RuntimeOther
      {{GpuFailure::DeviceLost, true}, {3, 4, 100, 201, 214, 304, 709, 999, 1052, 1053}},
      // Refused calls.
      // hipErrorInvalidValue, InvalidConfiguration, InvalidPitchValue, LaunchOutOfResources,
      // NotSupported
      {{GpuFailure::InvalidLaunch}, {1, 9, 12, 701, 801}},
      {{GpuFailure::CooperativeSize}, {720}}, // hipErrorCooperativeLaunchTooLarge
      {{GpuFailure::OutOfMemory}, {2}},       // hipErrorOutOfMemory
      // hipErrorInvalidDeviceFunction, InvalidImage, NoBinaryForGpu, InvalidKernelFile,
      // InvalidSource, FileNotFound, SharedObjectSymbolNotFound, SharedObjectInitFailed, NotFound
      {{GpuFailure::BadModule}, {98, 200, 209, 218, 300, 301, 302, 303, 500}}};
  return evaluators::classify(result, kMeanings);
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
