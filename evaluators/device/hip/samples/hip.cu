// HIP's own words.
#include <hip/hip_bf16.h>
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

extern "C" __global__ void hip(float* p, __hip_bfloat16* b) {
  float v = p[hipThreadIdx_x + hipBlockIdx_x * hipBlockDim_x];
  for (int offset = warpSize / 2; offset > 0; offset /= 2) {
    v += __shfl_down(v, offset);
  }
  p[threadIdx.x] = v + float(b[0]) + __popcll(__ballot(v > 1.0f)) + __lane_id();
}
