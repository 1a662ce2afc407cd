/*@winnow
{
  "let": { "room": "4 + ceil_div(2 * tokens * topk, experts)" },
  "launches": [
    { "fill": "y", "value": 0 },
    { "kernel": "gemm", "grid": ["ceil_div(n, 32)", "room", "experts"], "block": [32],
      "args": ["x", "w", "scale", "offsets", "y", "n", "blocks"] }
  ]
}
@*/
// Wrong: an expert has room for 4 rows more than twice the usual number. It drops the others, and
// their outputs are 0.
#include <cuda_bf16.h>

__device__ float e2m1(unsigned bits) {
  return __uint_as_float((bits & 8) << 28 | (bits & 7) << 22) * 0x1p126f;
}

extern "C" __global__ void gemm(const __nv_bfloat16* __restrict__ x,
                                const unsigned char* __restrict__ w,
                                const unsigned char* __restrict__ scale,
                                const int* __restrict__ offsets, __nv_bfloat16* __restrict__ y,
                                int n, int blocks) {
  const int e = blockIdx.z, slot = offsets[e] + blockIdx.y;
  const int j = blockIdx.x * 32 + threadIdx.x;
  if (j >= n || slot >= offsets[e + 1]) {
    return;
  }
  float sum = 0.0f;
  for (int b = 0; b < blocks; ++b) {
    const size_t at = ((size_t)e * n + j) * blocks + b;
    for (int p = 0; p < 32; ++p) {
      const float weight = ldexpf(e2m1(w[at * 16 + p / 2] >> 4 * (p % 2)), scale[at] - 127);
      sum = fmaf(__bfloat162float(x[((size_t)slot * blocks + b) * 32 + p]), weight, sum);
    }
  }
  y[(size_t)slot * n + j] = __float2bfloat16(sum);
}
