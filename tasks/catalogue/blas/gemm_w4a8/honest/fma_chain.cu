/*@winnow
{ "launches": [ { "kernel": "gemm", "grid": ["ceil_div(n, 32)", "m"], "block": [32],
                  "args": ["x", "x_scale", "w", "w_scale", "y", "n", "half_k"] } ] }
@*/
// One thread an output. Each weight is scaled in single precision before its fused multiply-add.
#include <cuda_fp16.h>

extern "C" __global__ void gemm(const signed char* __restrict__ x,
                                const float* __restrict__ x_scale,
                                const unsigned char* __restrict__ w,
                                const __half* __restrict__ w_scale, __half* __restrict__ y, int n,
                                int half_k) {
  const int row = blockIdx.y, j = blockIdx.x * 32 + threadIdx.x, groups = (half_k + 63) / 64;
  if (j >= n) {
    return;
  }
  float sum = 0.0f;
  for (int q = 0; q < half_k; ++q) {
    const float scale = __half2float(w_scale[(size_t)j * groups + q / 64]);
    const int pair = w[(size_t)j * half_k + q];
    const signed char* two = x + ((size_t)row * half_k + q) * 2;
    sum = fmaf(two[0], scale * (((pair & 15) ^ 8) - 8), sum);
    sum = fmaf(two[1], scale * (((pair >> 4) ^ 8) - 8), sum);
  }
  y[(size_t)row * n + j] = __float2half(x_scale[row] * sum);
}
