/*@winnow
{
  "let": { "slots": "tokens * topk" },
  "launches": [
    { "repeat": "experts", "as": "e",
      "do": [ { "kernel": "gemm", "grid": ["ceil_div(n, 4)", "ceil_div(slots, 64)"],
                "block": [32, 4],
                "args": ["x", "w", "expert", "y", "e", "slots", "topk", "n", "k"] } ] }
  ]
}
@*/
// A launch for each expert. A warp has one column and looks through 64 slots; its lanes share a sum
// and merge by shuffles.
#include <cuda_bf16.h>

extern "C" __global__ void gemm(const __nv_bfloat16* __restrict__ x,
                                const __nv_bfloat16* __restrict__ w, const int* __restrict__ expert,
                                __nv_bfloat16* __restrict__ y, int e, int slots, int topk, int n,
                                int k) {
  const int j = blockIdx.x * 4 + threadIdx.y;
  if (j >= n) {
    return;
  }
  const __nv_bfloat16* weights = w + ((size_t)e * n + j) * k;
  for (int slot = blockIdx.y * 64; slot < min(slots, (int)blockIdx.y * 64 + 64); ++slot) {
    if (expert[slot] != e) {
      continue;
    }
    float sum = 0.0f;
    for (int p = threadIdx.x; p < k; p += 32) {
      sum += __bfloat162float(x[(size_t)(slot / topk) * k + p]) * __bfloat162float(weights[p]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      sum += __shfl_xor_sync(0xffffffff, sum, offset, 32);
    }
    if (threadIdx.x == 0) {
      y[(size_t)slot * n + j] = __float2bfloat16(sum);
    }
  }
}
