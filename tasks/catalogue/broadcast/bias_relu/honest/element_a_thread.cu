/*@winnow
{ "launches": [ { "kernel": "bias_relu", "grid": ["ceil_div(rows * cols, 256)"], "block": [256],
                  "args": ["x", "bias", "y", "rows * cols", "cols"] } ] }
@*/
// One element a thread; the column is a remainder.
#include <cuda_bf16.h>

extern "C" __global__ void bias_relu(const __nv_bfloat16* __restrict__ x,
                                     const __nv_bfloat16* __restrict__ bias,
                                     __nv_bfloat16* __restrict__ y, long long count, int cols) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < count) {
    const float sum = __bfloat162float(x[i]) + __bfloat162float(bias[i % cols]);
    y[i] = __float2bfloat16(sum > 0.0f ? sum : 0.0f);
  }
}
