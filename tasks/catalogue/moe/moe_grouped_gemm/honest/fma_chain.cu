/*@winnow
{
  "let": { "slots": "tokens * topk" },
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 32)", "slots"], "block": [32],
      "args": ["x", "w", "expert", "y", "topk", "n", "k"] }
  ]
}
@*/
// No grouping: one thread an output, one fused multiply-add after the other.
#include <cuda_bf16.h>

extern "C" __global__ void gemm(const __nv_bfloat16* __restrict__ x,
                                const __nv_bfloat16* __restrict__ w, const int* __restrict__ expert,
                                __nv_bfloat16* __restrict__ y, int topk, int n, int k) {
  const size_t slot = blockIdx.y;
  const int j = blockIdx.x * 32 + threadIdx.x;
  if (j >= n) {
    return;
  }
  const __nv_bfloat16* row = x + slot / topk * k;
  const __nv_bfloat16* weights = w + ((size_t)expert[slot] * n + j) * k;
  float sum = 0.0f;
  for (int p = 0; p < k; ++p) {
    sum = fmaf(__bfloat162float(row[p]), __bfloat162float(weights[p]), sum);
  }
  y[slot * n + j] = __float2bfloat16(sum);
}
