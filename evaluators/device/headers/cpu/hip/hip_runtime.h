// HIP's names for what the prologue has, with warps of 32 threads.
#pragma once
#include "winnow_cpu.h"

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

// Without a mask the whole warp takes part.
template <class T>
inline T __shfl(T value, int source, int width = 32, int line = __builtin_LINE()) {
  return __shfl_sync(0xffffffffu, value, source, width, line);
}
template <class T>
inline T __shfl_up(T value, unsigned delta, int width = 32, int line = __builtin_LINE()) {
  return __shfl_up_sync(0xffffffffu, value, delta, width, line);
}
template <class T>
inline T __shfl_down(T value, unsigned delta, int width = 32, int line = __builtin_LINE()) {
  return __shfl_down_sync(0xffffffffu, value, delta, width, line);
}
template <class T>
inline T __shfl_xor(T value, int lanes, int width = 32, int line = __builtin_LINE()) {
  return __shfl_xor_sync(0xffffffffu, value, lanes, width, line);
}
inline unsigned long long __ballot(int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(0xffffffffu, predicate, line);
}
inline int __any(int predicate, int line = __builtin_LINE()) {
  return __any_sync(0xffffffffu, predicate, line);
}
inline int __all(int predicate, int line = __builtin_LINE()) {
  return __all_sync(0xffffffffu, predicate, line);
}
inline unsigned __lane_id() { return winnow_lane(); }
