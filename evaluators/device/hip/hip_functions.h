// The HIP runtime's functions. They are declared here so that one program serves machines with and
// without HIP's headers. Checked against the headers of ROCm 5.2 and 7. Only for the .cpp files and
// tests of this folder.
#pragma once

#include "evaluators/device/gpu/gpu_driver.h"

#include <cstddef>
#include <string>

namespace winnow::evaluators::hip {

using Result = int; ///< hipError_t
using Address = void*;
using Stream = struct HipStream*;
using Event = struct HipEvent*;
using Module = struct HipModule*;
using Function = struct HipFunction*;
using Graph = struct HipGraph*;
using GraphInstance = struct HipGraphInstance*;
struct Uuid {
  char bytes[16];
};

constexpr Result kSuccess = 0;
constexpr Result kNoDevice = 100;
constexpr Result kInvalidDevice = 101;
constexpr Result kNotReady = 600;
constexpr unsigned kStreamNonBlocking = 1;
constexpr int kCaptureThreadLocal = 1;
constexpr int kCopyDeviceToDevice = 3;

// Values of hipFunction_attribute.
constexpr int kMaxThreadsPerBlock = 0;
constexpr int kSharedSizeBytes = 1;
constexpr int kLocalSizeBytes = 3;
constexpr int kNumRegs = 4;

// X(name, parameters): functions that every supported runtime has. They return a Result.
#define WINNOW_HIP_FUNCTIONS(X)                                                                    \
  X(hipDeviceGetAttribute, (int* value, int attribute, int device))                                \
  X(hipDeviceGetName, (char* name, int bytes, int device))                                         \
  X(hipDeviceTotalMem, (std::size_t * bytes, int device))                                          \
  X(hipEventCreateWithFlags, (Event * event, unsigned flags))                                      \
  X(hipEventDestroy, (Event event))                                                                \
  X(hipEventElapsedTime, (float* milliseconds, Event start, Event stop))                           \
  X(hipEventRecord, (Event event, Stream stream))                                                  \
  X(hipEventSynchronize, (Event event))                                                            \
  X(hipFree, (Address address))                                                                    \
  X(hipFuncGetAttribute, (int* value, int attribute, Function function))                           \
  X(hipGetDeviceCount, (int* count))                                                               \
  X(hipGetLastError, ())                                                                           \
  X(hipGraphDestroy, (Graph graph))                                                                \
  X(hipGraphExecDestroy, (GraphInstance instance))                                                 \
  X(hipGraphInstantiateWithFlags,                                                                  \
    (GraphInstance * instance, Graph graph, unsigned long long flags))                             \
  X(hipGraphLaunch, (GraphInstance instance, Stream stream))                                       \
  X(hipHostRegister, (void* memory, std::size_t bytes, unsigned flags))                            \
  X(hipHostUnregister, (void* memory))                                                             \
  X(hipInit, (unsigned flags))                                                                     \
  X(hipMalloc, (Address * address, std::size_t bytes))                                             \
  X(hipMemcpy2DAsync, (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,   \
                       std::size_t width, std::size_t height, int kind, Stream stream))            \
  X(hipMemcpyDtoDAsync, (Address to, Address from, std::size_t bytes, Stream stream))              \
  X(hipMemcpyDtoHAsync, (void* to, Address from, std::size_t bytes, Stream stream))                \
  X(hipMemcpyHtoDAsync, (Address to, void* from, std::size_t bytes, Stream stream))                \
  X(hipMemsetD16Async, (Address to, unsigned short value, std::size_t count, Stream stream))       \
  X(hipMemsetD32Async, (Address to, int value, std::size_t count, Stream stream))                  \
  X(hipMemsetD8Async, (Address to, unsigned char value, std::size_t count, Stream stream))         \
  X(hipModuleGetFunction, (Function * function, Module module, const char* name))                  \
  X(hipModuleLaunchKernel, (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,  \
                            unsigned block_x, unsigned block_y, unsigned block_z,                  \
                            unsigned shared_bytes, Stream stream, void** arguments, void** extra)) \
  X(hipModuleLoadData, (Module * module, const void* image))                                       \
  X(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,                                            \
    (int* blocks, Function function, int block_size, std::size_t shared_bytes))                    \
  X(hipModuleUnload, (Module module))                                                              \
  X(hipRuntimeGetVersion, (int* version))                                                          \
  X(hipSetDevice, (int device))                                                                    \
  X(hipStreamBeginCapture, (Stream stream, int mode))                                              \
  X(hipStreamCreateWithFlags, (Stream * stream, unsigned flags))                                   \
  X(hipStreamDestroy, (Stream stream))                                                             \
  X(hipStreamEndCapture, (Stream stream, Graph * graph))                                           \
  X(hipStreamQuery, (Stream stream))                                                               \
  X(hipStreamSynchronize, (Stream stream))

// Functions that only some runtimes have; null if missing.
#define WINNOW_HIP_OPTIONAL_FUNCTIONS(X)                                                           \
  X(hipDeviceGetUuid, (Uuid * uuid, int device))                                                   \
  X(hipGetDeviceProperties, (void* properties, int device))                                        \
  X(hipGetDevicePropertiesR0600, (void* properties, int device))                                   \
  X(hipModuleLaunchCooperativeKernel,                                                              \
    (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,       \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** arguments))

struct Functions {
#define WINNOW_HIP_MEMBER(name, parameters) Result(*name) parameters = nullptr;
  WINNOW_HIP_FUNCTIONS(WINNOW_HIP_MEMBER)
  WINNOW_HIP_OPTIONAL_FUNCTIONS(WINNOW_HIP_MEMBER)
#undef WINNOW_HIP_MEMBER
  const char* (*hipGetErrorName)(Result) = nullptr;
  const char* (*hipGetErrorString)(Result) = nullptr;
  std::string library; ///< the name that was passed to dlopen
};

/// Loads `library`, or the newest ROCm's library if `library` is empty. Throws DeviceUnavailable.
Functions load_functions(const std::string& library);
/// Like load_functions() with $WINNOW_HIP_LIBRARY, but once per process.
const Functions& functions();

/// The meaning of a hipError_t other than hipSuccess. Source: the comments at hipError_t in
/// hip_runtime_api.h.
ErrorClass classify(Result result);

/// Throws GpuError.
void check(const Functions& hip, Result result, const char* call);

std::string version_text(const Functions& hip); ///< "HIP 5.2"
/// For example "gfx90a". Throws GpuError (Other) when the runtime does not report it.
std::string architecture_of(const Functions& hip, int device);
std::string name_of(const Functions& hip, int device);
std::string uuid_of(const Functions& hip, int device); ///< empty when unknown
tasks::DeviceFacts facts_of(const Functions& hip, int device);

} // namespace winnow::evaluators::hip
