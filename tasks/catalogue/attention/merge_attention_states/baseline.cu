/*@winnow
{
  "params": { "BLOCK": [128, 256, 64] },
  "let": { "vec": "dim % 8 == 0 ? 8 : 1", "packs": "dim / vec" },
  "launches": [
    { "kernel": "merge<{BLOCK}, {vec}>", "grid": ["ceil_div(tokens * heads * packs, BLOCK)"],
      "block": ["BLOCK"],
      "args": ["a", "lse_a", "b", "lse_b", "y", "lse", "tokens", "heads", "packs"] }
  ]
}
@*/
// 16 bytes a thread if the rows are aligned; the threads of a row all compute its weights.
#include <cuda_bf16.h>

template <int VEC> struct alignas(2 * VEC) Pack { __nv_bfloat16 lane[VEC]; };

template <int BLOCK, int VEC>
__global__ void merge(const __nv_bfloat16* __restrict__ a, const float* __restrict__ lse_a,
                      const __nv_bfloat16* __restrict__ b, const float* __restrict__ lse_b,
                      __nv_bfloat16* __restrict__ y, float* __restrict__ lse, int tokens, int heads,
                      int packs) {
  const long long at = blockIdx.x * (long long)BLOCK + threadIdx.x;
  const int row = (int)(at / packs); // token * heads + head
  if (row >= tokens * heads) {
    return;
  }
  const Pack<VEC> from_a = reinterpret_cast<const Pack<VEC>*>(a)[at];
  const Pack<VEC> from_b = reinterpret_cast<const Pack<VEC>*>(b)[at];
  const int state = row % heads * tokens + row / heads;
  const float la = lse_a[state], lb = lse_b[state], largest = fmaxf(la, lb);
  const float share_a = expf(la - largest), share_b = expf(lb - largest), sum = share_a + share_b;
  const float weight_a = share_a / sum, weight_b = share_b / sum;
  Pack<VEC> merged;
#pragma unroll
  for (int i = 0; i < VEC; ++i) {
    merged.lane[i] = __float2bfloat16(weight_a * __bfloat162float(from_a.lane[i]) +
                                      weight_b * __bfloat162float(from_b.lane[i]));
  }
  reinterpret_cast<Pack<VEC>*>(y)[at] = merged;
  if (at % packs == 0) {
    lse[state] = largest + logf(sum);
  }
}
