/*@winnow
{
  "let": {
    "slots": "tokens * topk",
    "room": "16 + 2 * ceil_div(slots, experts)"
  },
  "scratch": {
    "count": { "dtype": "i32", "count": "experts" },
    "taken": { "dtype": "i32", "count": "slots" }
  },
  "launches": [
    { "fill": "count", "value": 0 },
    { "kernel": "take_slots", "grid": ["ceil_div(slots, 256)"], "block": [256],
      "args": ["expert", "count", "taken", "slots", "room"] },
    { "kernel": "gemm", "grid": ["ceil_div(n, 32)", "slots"], "block": [32],
      "args": ["x", "w", "expert", "taken", "y", "topk", "n", "k"] }
  ]
}
@*/
// Wrong: an expert has room for 16 slots more than twice the usual number. It drops the others, and
// their outputs are 0.
#include <cuda_bf16.h>

extern "C" __global__ void take_slots(const int* __restrict__ expert, int* count, int* taken,
                                      int slots, int room) {
  const int slot = blockIdx.x * 256 + threadIdx.x;
  if (slot < slots) {
    taken[slot] = atomicAdd(&count[expert[slot]], 1) < room;
  }
}

extern "C" __global__ void gemm(const __nv_bfloat16* __restrict__ x,
                                const __nv_bfloat16* __restrict__ w, const int* __restrict__ expert,
                                const int* __restrict__ taken, __nv_bfloat16* __restrict__ y,
                                int topk, int n, int k) {
  const size_t slot = blockIdx.y;
  const int j = blockIdx.x * 32 + threadIdx.x;
  if (j >= n) {
    return;
  }
  const __nv_bfloat16* row = x + slot / topk * k;
  const __nv_bfloat16* weights = w + ((size_t)expert[slot] * n + j) * k;
  float sum = 0.0f;
  for (int p = 0; p < k && taken[slot]; ++p) {
    sum = fmaf(__bfloat162float(row[p]), __bfloat162float(weights[p]), sum);
  }
  y[slot * n + j] = __float2bfloat16(sum);
}
