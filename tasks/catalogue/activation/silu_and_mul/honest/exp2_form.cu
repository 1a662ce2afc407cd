/*@winnow
{ "launches": [ { "kernel": "silu_and_mul", "grid": ["min(rows, 64)"], "block": [128],
                  "args": ["x", "y", "rows", "cols"] } ] }
@*/
// A grid-stride loop; exponentials to the base 2, and a reciprocal.
#include <cuda_bf16.h>

__device__ float silu(float a) {
  return a * __frcp_rn(1.0f + exp2f(-1.4426950408889634f * a));
}

extern "C" __global__ void silu_and_mul(const __nv_bfloat16* __restrict__ x,
                                        __nv_bfloat16* __restrict__ y, int rows, int cols) {
  const long long stride = gridDim.x * (long long)blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < (long long)rows * cols;
       i += stride) {
    const long long at = i / cols * 2 * cols + i % cols;
    y[i] = __float2bfloat16(silu(__bfloat162float(x[at])) * __bfloat162float(x[at + cols]));
  }
}
