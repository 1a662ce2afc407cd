/*@winnow
{
  "params": { "BLOCK": [64] },
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, BLOCK)", "m"], "block": ["BLOCK"],
      "args": ["x", "w", "scale", "y", "n", "blocks"] }
  ]
}
@*/
// One thread an output, one fused multiply-add after the other; a table has the sixteen floats.
#include <cuda_bf16.h>

__constant__ float kFloats[16] = {0.0f,  0.5f,  1.0f,  1.5f,  2.0f,  3.0f,  4.0f,  6.0f,
                                  -0.0f, -0.5f, -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f};

__global__ void gemm(const __nv_bfloat16* __restrict__ x, const unsigned char* __restrict__ w,
                     const unsigned char* __restrict__ scale, __nv_bfloat16* __restrict__ y, int n,
                     int blocks) {
  const size_t row = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int p = 0; p < 32 * blocks; ++p) {
    const int pair = w[(size_t)column * blocks * 16 + p / 2];
    const float weight =
        ldexpf(kFloats[pair >> 4 * (p % 2) & 15], scale[(size_t)column * blocks + p / 32] - 127);
    sum = fmaf(__bfloat162float(x[row * blocks * 32 + p]), weight, sum);
  }
  y[row * n + column] = __float2bfloat16(sum);
}
