/*@winnow
{
  "params": { "BLOCK": [64] },
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, BLOCK)", "m"], "block": ["BLOCK"],
      "args": ["x", "w", "scale", "y", "m", "n", "2 * half_k"] }
  ]
}
@*/
// One thread an output, one fused multiply-add after the other.
#include <cuda_bf16.h>

__device__ float left(const __nv_bfloat16* x, int row, int p, int k) {
  return __bfloat162float(x[(size_t)row * k + p]);
}
__device__ float right(const unsigned char* w, int p, int column, int n, int k) {
  const int pair = w[(size_t)column * (k / 2) + p / 2];
  return (((pair >> (p % 2 * 4)) & 15) ^ 8) - 8;
}

__global__ void gemm(const __nv_bfloat16* __restrict__ x, const unsigned char* __restrict__ w,
                     const float* __restrict__ scale, __nv_bfloat16* __restrict__ y, int m, int n,
                     int k) {
  const int row = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int p = 0; p < k; ++p) {
    sum = fmaf(left(x, row, p, k), right(w, p, column, n, k), sum);
  }
  y[(size_t)row * n + column] = __float2bfloat16(scale[column] * sum);
}
