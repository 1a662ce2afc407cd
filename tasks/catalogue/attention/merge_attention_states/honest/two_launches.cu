/*@winnow
{
  "launches": [
    { "kernel": "merge_logarithms", "grid": ["ceil_div(tokens * heads, 128)"], "block": [128],
      "args": ["lse_a", "lse_b", "lse", "tokens * heads"] },
    { "kernel": "merge", "grid": ["ceil_div(tokens * heads, 4)"], "block": [32, 4],
      "args": ["a", "lse_a", "b", "lse_b", "y", "lse", "tokens", "heads", "dim"] }
  ]
}
@*/
// The logarithms first; the weights are exponentials of their differences. A warp a row.
#include <cuda_bf16.h>

extern "C" __global__ void merge_logarithms(const float* __restrict__ lse_a,
                                            const float* __restrict__ lse_b,
                                            float* __restrict__ lse, int count) {
  const int at = blockIdx.x * 128 + threadIdx.x;
  if (at < count) {
    const float largest = fmaxf(lse_a[at], lse_b[at]);
    lse[at] = largest + logf(expf(lse_a[at] - largest) + expf(lse_b[at] - largest));
  }
}

extern "C" __global__ void merge(const __nv_bfloat16* __restrict__ a,
                                 const float* __restrict__ lse_a,
                                 const __nv_bfloat16* __restrict__ b,
                                 const float* __restrict__ lse_b, __nv_bfloat16* __restrict__ y,
                                 const float* __restrict__ lse, int tokens, int heads, int dim) {
  const int row = blockIdx.x * 4 + threadIdx.y;
  if (row >= tokens * heads) {
    return;
  }
  const int state = row % heads * tokens + row / heads;
  const float weight_a = expf(lse_a[state] - lse[state]);
  const float weight_b = expf(lse_b[state] - lse[state]);
  for (int c = threadIdx.x; c < dim; c += 32) {
    const size_t i = (size_t)row * dim + c;
    y[i] = __float2bfloat16(__bfloat162float(a[i]) * weight_a + __bfloat162float(b[i]) * weight_b);
  }
}
