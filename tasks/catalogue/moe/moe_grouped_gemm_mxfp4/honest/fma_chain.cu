/*@winnow
{
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 32)", "tokens * topk"], "block": [32],
      "args": ["x", "w", "scale", "offsets", "y", "experts", "n", "blocks"] }
  ]
}
@*/
// No grouping: one thread an output, one fused multiply-add after the other. A row finds its expert
// by bisection; a table has the sixteen floats.
#include <cuda_bf16.h>

__constant__ float kFloats[16] = {0.0f,  0.5f,  1.0f,  1.5f,  2.0f,  3.0f,  4.0f,  6.0f,
                                  -0.0f, -0.5f, -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f};

extern "C" __global__ void gemm(const __nv_bfloat16* __restrict__ x,
                                const unsigned char* __restrict__ w,
                                const unsigned char* __restrict__ scale,
                                const int* __restrict__ offsets, __nv_bfloat16* __restrict__ y,
                                int experts, int n, int blocks) {
  const int slot = blockIdx.y, j = blockIdx.x * 32 + threadIdx.x;
  if (j >= n) {
    return;
  }
  int low = 0, high = experts; // the expert is in [low, high)
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (offsets[middle] <= slot ? low : high) = middle;
  }
  const size_t first = ((size_t)low * n + j) * blocks;
  const __nv_bfloat16* row = x + (size_t)slot * blocks * 32;
  float sum = 0.0f;
  for (int p = 0; p < 32 * blocks; ++p) {
    const int pair = w[first * 16 + p / 2];
    const float weight = ldexpf(kFloats[pair >> 4 * (p % 2) & 15], scale[first + p / 32] - 127);
    sum = fmaf(__bfloat162float(row[p]), weight, sum);
  }
  y[(size_t)slot * n + j] = __float2bfloat16(sum);
}
