/*@winnow
{ "launches": [ { "kernel": "merge", "grid": ["tokens * heads"], "block": [32],
                  "args": ["a", "lse_a", "b", "lse_b", "y", "lse", "tokens", "heads", "dim"] } ] }
@*/
// Wrong: takes both logarithms for small numbers, and so subtracts no maximum before exp.
#include <cuda_bf16.h>

extern "C" __global__ void merge(const __nv_bfloat16* __restrict__ a,
                                 const float* __restrict__ lse_a,
                                 const __nv_bfloat16* __restrict__ b,
                                 const float* __restrict__ lse_b, __nv_bfloat16* __restrict__ y,
                                 float* __restrict__ lse, int tokens, int heads, int dim) {
  const int state = blockIdx.x % heads * tokens + blockIdx.x / heads;
  const float share_a = expf(lse_a[state]), share_b = expf(lse_b[state]), sum = share_a + share_b;
  for (int c = threadIdx.x; c < dim; c += 32) {
    const size_t i = (size_t)blockIdx.x * dim + c;
    y[i] = __float2bfloat16(share_a / sum * __bfloat162float(a[i]) +
                            share_b / sum * __bfloat162float(b[i]));
  }
  if (threadIdx.x == 0) {
    lse[state] = logf(sum);
  }
}
