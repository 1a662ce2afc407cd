// The driver's functions and types. Only for the .cpp files of this folder, which need cuda.h
// anyway.
#pragma once

#include "evaluators/device/gpu/gpu_driver.h"
#include "tasks/plan/resolve/plan_resolve.h"

#include <string>

#include <cuda.h>

namespace winnow::evaluators::cuda {

// Members and symbols have the names that cuda.h's macros expand to (cuMemAlloc is cuMemAlloc_v2).
#define WINNOW_CUDA_FUNCTIONS(X)                                                                   \
  X(cuCtxGetLimit)                                                                                 \
  X(cuCtxResetPersistingL2Cache)                                                                   \
  X(cuCtxSetCurrent)                                                                               \
  X(cuCtxSetLimit)                                                                                 \
  X(cuDeviceGet)                                                                                   \
  X(cuDeviceGetAttribute)                                                                          \
  X(cuDeviceGetCount)                                                                              \
  X(cuDeviceGetName)                                                                               \
  X(cuDeviceGetUuid)                                                                               \
  X(cuDevicePrimaryCtxRelease)                                                                     \
  X(cuDevicePrimaryCtxRetain)                                                                      \
  X(cuDeviceTotalMem)                                                                              \
  X(cuEventCreate)                                                                                 \
  X(cuEventDestroy)                                                                                \
  X(cuEventRecord)                                                                                 \
  X(cuFuncGetAttribute)                                                                            \
  X(cuFuncSetAttribute)                                                                            \
  X(cuGetErrorName)                                                                                \
  X(cuGetErrorString)                                                                              \
  X(cuGraphDestroy)                                                                                \
  X(cuGraphExecDestroy)                                                                            \
  X(cuGraphInstantiateWithFlags)                                                                   \
  X(cuGraphLaunch)                                                                                 \
  X(cuGraphUpload)                                                                                 \
  X(cuLaunchKernelEx)                                                                              \
  X(cuMemAlloc)                                                                                    \
  X(cuMemFree)                                                                                     \
  X(cuMemFreeHost)                                                                                 \
  X(cuMemHostAlloc)                                                                                \
  X(cuMemHostGetDevicePointer)                                                                     \
  X(cuMemHostRegister)                                                                             \
  X(cuMemHostUnregister)                                                                           \
  X(cuMemcpy2DAsync)                                                                               \
  X(cuMemcpyDtoDAsync)                                                                             \
  X(cuMemcpyDtoHAsync)                                                                             \
  X(cuMemcpyHtoDAsync)                                                                             \
  X(cuMemsetD16Async)                                                                              \
  X(cuMemsetD32Async)                                                                              \
  X(cuMemsetD8Async)                                                                               \
  X(cuModuleGetFunction)                                                                           \
  X(cuModuleLoadData)                                                                              \
  X(cuModuleUnload)                                                                                \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor)                                                   \
  X(cuStreamBeginCapture)                                                                          \
  X(cuStreamCreate)                                                                                \
  X(cuStreamDestroy)                                                                               \
  X(cuStreamEndCapture)                                                                            \
  X(cuStreamQuery)                                                                                 \
  X(cuStreamSynchronize)                                                                           \
  X(cuTensorMapEncodeTiled)

struct Functions {
#define WINNOW_CUDA_MEMBER(name) decltype(&::name) name = nullptr;
  WINNOW_CUDA_FUNCTIONS(WINNOW_CUDA_MEMBER)
#undef WINNOW_CUDA_MEMBER
  // Found by its first name: drivers before 12.8 lack the _v2 function that newer headers name.
  decltype(&::cuEventElapsedTime) elapsed_time = nullptr;
  std::string path;       ///< of the driver library
  int driver_version = 0; ///< 12040: CUDA 12.4
};

/// Loads and initialises the driver once per process. Throws DeviceUnavailable.
const Functions& functions();

/// Throws GpuError.
void check(CUresult result, const char* call);

std::string version_text(int driver_version); ///< "CUDA 12.4"
tasks::DeviceFacts facts_of(const Functions& cuda, CUdevice device);
std::string name_of(const Functions& cuda, CUdevice device);
std::string uuid_of(const Functions& cuda, CUdevice device); ///< "GPU-8f6b..."
/// The highest clock at which the multiprocessors run by themselves; 0 when the driver does not
/// report it.
double clock_mhz_of(const Functions& cuda, CUdevice device);
/// See GpuDriver::encode().
TensorMapBytes encode(const Functions& cuda, const tasks::ResolvedTensorMap& map,
                      GpuAddress tensor);

} // namespace winnow::evaluators::cuda
