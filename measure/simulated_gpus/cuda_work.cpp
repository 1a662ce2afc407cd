// The functions of CUDA's driver for streams, events, modules and launches.
#include "measure/simulated_gpus/gpu.h"
#include "measure/simulated_gpus/kernels.h"

#include <algorithm>

#include <cuda.h>

// Winnow asks for this function by its first name.
#undef cuEventElapsedTime

using winnow::simulated_gpus::gpu;
using winnow::simulated_gpus::Kernel;
using winnow::simulated_gpus::state;

struct CUevent_st {
  std::chrono::nanoseconds at{0};
};

namespace {

int handle; // of streams and modules, which have no state

template <typename Handle> Handle any_handle() {
  return reinterpret_cast<Handle>(&handle);
}

CUresult wait() {
  gpu().wait();
  return state();
}

} // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned /*flags*/) {
  *stream = any_handle<CUstream>();
  return state();
}

CUresult cuStreamDestroy(CUstream /*stream*/) {
  return CUDA_SUCCESS;
}

// Waits, so that Winnow does not ask again and again, which would take CPU.
CUresult cuStreamQuery(CUstream /*stream*/) {
  return wait();
}

CUresult cuStreamSynchronize(CUstream /*stream*/) {
  return wait();
}

CUresult cuEventCreate(CUevent* event, unsigned /*flags*/) {
  *event = new CUevent_st;
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event) {
  delete event;
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream /*stream*/) {
  event->at = gpu().worked();
  return state();
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  *milliseconds = std::chrono::duration<float, std::milli>(end->at - begin->at).count();
  return state();
}

// A module is not looked into: the names of its kernels tell what they do.
CUresult cuModuleLoadData(CUmodule* module, const void* /*image*/) {
  *module = any_handle<CUmodule>();
  return state();
}

CUresult cuModuleUnload(CUmodule /*module*/) {
  return state();
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule /*module*/, const char* name) {
  const Kernel& kernel = winnow::simulated_gpus::kernel_called(name);
  *function = reinterpret_cast<CUfunction>(const_cast<Kernel*>(&kernel));
  return state();
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction /*function*/) {
  *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024
           : attribute == CU_FUNC_ATTRIBUTE_NUM_REGS            ? 16
                                                                : 0;
  return state();
}

CUresult cuFuncSetAttribute(CUfunction /*function*/, CUfunction_attribute /*attribute*/,
                            int /*value*/) {
  return state();
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction /*function*/,
                                                     int block_threads, std::size_t /*shared*/) {
  *blocks = 2048 / std::max(block_threads, 1);
  return state();
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* /*config*/, CUfunction function, void** arguments,
                          void** /*extra*/) {
  if (state() != CUDA_SUCCESS) {
    return state();
  }
  const auto& kernel = *reinterpret_cast<const Kernel*>(function);
  const winnow::simulated_gpus::Arguments given(arguments, arguments + kernel.parameters);
  kernel.run(given);
  gpu().queue(kernel.time(given));
  return CUDA_SUCCESS;
}

// The task axpy needs neither graphs nor tensor maps.
CUresult cuStreamBeginCapture(CUstream, CUstreamCaptureMode) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuStreamEndCapture(CUstream, CUgraph*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuGraphDestroy(CUgraph) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec*, CUgraph, unsigned long long) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuGraphExecDestroy(CUgraphExec) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuGraphUpload(CUgraphExec, CUstream) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuGraphLaunch(CUgraphExec, CUstream) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuTensorMapEncodeTiled(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                                const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                                const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

} // extern "C"
