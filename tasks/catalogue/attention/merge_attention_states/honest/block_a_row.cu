/*@winnow
{ "launches": [ { "kernel": "merge", "grid": ["tokens * heads"], "block": [32],
                  "args": ["a", "lse_a", "b", "lse_b", "y", "lse", "tokens", "heads", "dim"] } ] }
@*/
// A block a row. One weight is a sigmoid of the difference, the other one its complement.
#include <cuda_bf16.h>

extern "C" __global__ void merge(const __nv_bfloat16* __restrict__ a,
                                 const float* __restrict__ lse_a,
                                 const __nv_bfloat16* __restrict__ b,
                                 const float* __restrict__ lse_b, __nv_bfloat16* __restrict__ y,
                                 float* __restrict__ lse, int tokens, int heads, int dim) {
  const int state = blockIdx.x % heads * tokens + blockIdx.x / heads;
  const float difference = lse_b[state] - lse_a[state];
  const float weight_a = 1.0f / (1.0f + expf(difference));
  const float weight_b = 1.0f / (1.0f + expf(-difference));
  for (int c = threadIdx.x; c < dim; c += 32) {
    const size_t i = (size_t)blockIdx.x * dim + c;
    const float part = __bfloat162float(b[i]) * weight_b;
    y[i] = __float2bfloat16(fmaf(__bfloat162float(a[i]), weight_a, part));
  }
  if (threadIdx.x == 0) {
    lse[state] = fmaxf(lse_a[state], lse_b[state]) + log1pf(expf(-fabsf(difference)));
  }
}
