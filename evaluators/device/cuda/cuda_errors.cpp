#include "evaluators/device/cuda/cuda_errors.h"

#include <cuda.h>

namespace winnow::evaluators::cuda {

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
