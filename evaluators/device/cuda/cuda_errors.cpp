#include "evaluators/device/cuda/cuda_errors.h"

#include <cuda.h>

namespace winnow::evaluators::cuda {
namespace {

// Classifies errors of a running kernel. cuda.h says of them: "the context cannot be used (and the
// process must be terminated)".
GpuFailure of_running_kernel(int result) {
  switch (result) {
  case CUDA_ERROR_ILLEGAL_ADDRESS:
    return GpuFailure::IllegalAddress;
  case CUDA_ERROR_MISALIGNED_ADDRESS:
    return GpuFailure::Misaligned;
  case CUDA_ERROR_ASSERT:
    return GpuFailure::Assertion;
  case CUDA_ERROR_LAUNCH_TIMEOUT:
    return GpuFailure::LaunchTimeout;
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_LAUNCH_FAILED: // __trap(), an access outside of shared memory
  case 721:                      // CUDA_ERROR_TENSOR_MEMORY_LEAK, not in the headers of CUDA 12
    return GpuFailure::Trap;
  default:
    return GpuFailure::Other;
  }
}

bool is_device_lost(int result) {
  switch (result) {
  case CUDA_ERROR_NOT_INITIALIZED:
  case CUDA_ERROR_DEINITIALIZED:
  case CUDA_ERROR_DEVICE_UNAVAILABLE:
  case CUDA_ERROR_NO_DEVICE:
  case CUDA_ERROR_INVALID_CONTEXT:
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_NVLINK_UNCORRECTABLE:
  case 226: // CUDA_ERROR_CONTAINED, not in the headers of CUDA 12
  case CUDA_ERROR_OPERATING_SYSTEM:
  case CUDA_ERROR_CONTEXT_IS_DESTROYED:
  case CUDA_ERROR_SYSTEM_NOT_READY:
  case CUDA_ERROR_MPS_CLIENT_TERMINATED:
  case CUDA_ERROR_UNKNOWN:
    return true;
  default:
    return false;
  }
}

GpuFailure of_refused_call(int result) {
  switch (result) {
  case CUDA_ERROR_INVALID_VALUE:
  case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
  case CUDA_ERROR_NOT_SUPPORTED:
  case CUDA_ERROR_INVALID_CLUSTER_SIZE:
    return GpuFailure::InvalidLaunch;
  case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
    return GpuFailure::CooperativeSize;
  case CUDA_ERROR_OUT_OF_MEMORY:
    return GpuFailure::OutOfMemory;
  case CUDA_ERROR_INVALID_IMAGE:
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
  case CUDA_ERROR_INVALID_PTX:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
  case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
  case CUDA_ERROR_JIT_COMPILATION_DISABLED:
  case CUDA_ERROR_INVALID_SOURCE:
  case CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND:
  case CUDA_ERROR_SHARED_OBJECT_INIT_FAILED:
  case CUDA_ERROR_NOT_FOUND:
    return GpuFailure::BadModule;
  default:
    return GpuFailure::Other;
  }
}

} // namespace

ErrorClass classify(int result) {
  if (const GpuFailure failure = of_running_kernel(result); failure != GpuFailure::Other) {
    return {failure, true};
  }
  if (is_device_lost(result)) {
    return {GpuFailure::DeviceLost, true};
  }
  return {of_refused_call(result), false};
}

} // namespace winnow::evaluators::cuda
