/*@winnow
{
  "params": { "PARTS": [4] },
  "let": { "slots": "tokens * topk", "part": "ceil_div(blocks, PARTS)" },
  "scratch": {
    "sum": { "dtype": "f32", "count": "slots * n" },
    "expert": { "dtype": "i32", "count": "slots" }
  },
  "launches": [
    { "fill": "sum", "value": 0 },
    { "kernel": "name_experts", "grid": ["experts"], "block": [32], "args": ["offsets", "expert"] },
    { "kernel": "add_parts", "grid": ["ceil_div(n, 64)", "slots", "PARTS"], "block": [64],
      "args": ["x", "w", "scale", "expert", "sum", "n", "blocks", "part"] },
    { "kernel": "narrow", "grid": ["ceil_div(n, 64)", "slots"], "block": [64],
      "args": ["sum", "y", "n"] }
  ]
}
@*/
// Parts of the blocks by thread blocks that add by atomics. A weight becomes a bfloat16 by its
// bits, whose product with the power of two is exact.
#include <cuda_bf16.h>

__device__ float e2m1(unsigned bits) {
  const __nv_bfloat16 tiny = __ushort_as_bfloat16((bits & 8) << 12 | (bits & 7) << 6);
  return __bfloat162float(tiny) * 0x1p126f;
}

extern "C" __global__ void name_experts(const int* __restrict__ offsets, int* __restrict__ expert) {
  const int e = blockIdx.x;
  for (int slot = offsets[e] + threadIdx.x; slot < offsets[e + 1]; slot += 32) {
    expert[slot] = e;
  }
}

extern "C" __global__ void add_parts(const __nv_bfloat16* __restrict__ x,
                                     const unsigned char* __restrict__ w,
                                     const unsigned char* __restrict__ scale,
                                     const int* __restrict__ expert, float* sum, int n, int blocks,
                                     int part) {
  const size_t slot = blockIdx.y;
  const int j = blockIdx.x * 64 + threadIdx.x;
  if (j >= n) {
    return;
  }
  const size_t first = ((size_t)expert[slot] * n + j) * blocks;
  float total = 0.0f;
  for (int b = blockIdx.z * part; b < min(blocks, ((int)blockIdx.z + 1) * part); ++b) {
    const float power = exp2f((float)scale[first + b] - 127.0f);
    for (int p = 0; p < 32; ++p) {
      const float factor = __bfloat162float(x[(slot * blocks + b) * 32 + p]);
      total += factor * (power * e2m1(w[(first + b) * 16 + p / 2] >> 4 * (p % 2)));
    }
  }
  atomicAdd(&sum[slot * n + j], total);
}

extern "C" __global__ void narrow(const float* __restrict__ sum, __nv_bfloat16* __restrict__ y,
                                  int n) {
  const size_t slot = blockIdx.y;
  const int j = blockIdx.x * 64 + threadIdx.x;
  if (j < n) {
    y[slot * n + j] = __float2bfloat16(sum[slot * n + j]);
  }
}
