/*@winnow
{
  "params": { "PARTS": [4] },
  "let": { "slots": "tokens * topk", "part_k": "ceil_div(k, PARTS)" },
  "scratch": { "sum": { "dtype": "f32", "count": "slots * n" } },
  "launches": [
    { "fill": "sum", "value": 0 },
    { "kernel": "add_parts", "grid": ["ceil_div(n, 64)", "slots", "PARTS"], "block": [64],
      "shared_bytes": "4 * part_k",
      "args": ["x", "w", "expert", "sum", "topk", "n", "k", "part_k"] },
    { "kernel": "narrow", "grid": ["ceil_div(n, 64)", "slots"], "block": [64],
      "args": ["sum", "y", "n"] }
  ]
}
@*/
// Parts of k by blocks that keep a part of the token in shared memory and add by atomics.
#include <cuda_bf16.h>

extern "C" __global__ void add_parts(const __nv_bfloat16* __restrict__ x,
                                     const __nv_bfloat16* __restrict__ w,
                                     const int* __restrict__ expert, float* sum, int topk, int n,
                                     int k, int part_k) {
  extern __shared__ float row[];
  const size_t slot = blockIdx.y;
  const int j = blockIdx.x * 64 + threadIdx.x;
  const int begin = blockIdx.z * part_k, count = min(k - begin, part_k);
  for (int p = threadIdx.x; p < count; p += 64) {
    row[p] = __bfloat162float(x[slot / topk * k + begin + p]);
  }
  __syncthreads();
  if (j >= n) {
    return;
  }
  const __nv_bfloat16* weights = w + ((size_t)expert[slot] * n + j) * k + begin;
  float part = 0.0f;
  for (int p = 0; p < count; ++p) {
    part += row[p] * __bfloat162float(weights[p]);
  }
  atomicAdd(&sum[slot * n + j], part);
}

extern "C" __global__ void narrow(const float* __restrict__ sum, __nv_bfloat16* __restrict__ y,
                                  int n) {
  const size_t slot = blockIdx.y;
  const int j = blockIdx.x * 64 + threadIdx.x;
  if (j < n) {
    y[slot * n + j] = __float2bfloat16(sum[slot * n + j]);
  }
}
