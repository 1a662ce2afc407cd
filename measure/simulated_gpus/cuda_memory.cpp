// The functions of CUDA's driver for memory.
#include "measure/simulated_gpus/gpu.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include <cuda.h>

using winnow::simulated_gpus::gpu;
using winnow::simulated_gpus::state;

namespace {

CUresult fill(CUdeviceptr to, const void* element, std::size_t element_bytes, std::size_t count) {
  constexpr std::size_t kMost = 512; // more than Winnow's results; a tensor needs fewer
  gpu().note_tensor(to);
  for (std::size_t i = 0; i < std::min(count, kMost); ++i) {
    std::memcpy(std::bit_cast<std::byte*>(to) + i * element_bytes, element, element_bytes);
  }
  gpu().queue(std::chrono::microseconds(2));
  return state();
}

} // namespace

extern "C" {

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  *address = gpu().allocate(bytes);
  return *address != 0 ? state() : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree(CUdeviceptr address) {
  return gpu().release(address) ? state() : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemHostAlloc(void** memory, std::size_t bytes, unsigned /*flags*/) {
  *memory = std::calloc(bytes, 1);
  return *memory != nullptr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFreeHost(void* memory) {
  std::free(memory);
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* memory, unsigned /*flags*/) {
  *address = std::bit_cast<CUdeviceptr>(memory);
  return CUDA_SUCCESS;
}

CUresult cuMemHostRegister(void* /*memory*/, std::size_t /*bytes*/, unsigned /*flags*/) {
  return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void* /*memory*/) {
  return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes,
                           CUstream /*stream*/) {
  gpu().upload(to, from, bytes);
  return state();
}

CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream /*stream*/) {
  gpu().download(to, from, bytes);
  return state();
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count,
                         CUstream /*stream*/) {
  return fill(to, &value, sizeof value, count);
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                          CUstream /*stream*/) {
  return fill(to, &value, sizeof value, count);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream /*stream*/) {
  return fill(to, &value, sizeof value, count);
}

// The task axpy needs neither of these copies.
CUresult cuMemcpyDtoDAsync(CUdeviceptr, CUdeviceptr, std::size_t, CUstream) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D*, CUstream) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

} // extern "C"
