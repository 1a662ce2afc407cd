/*@winnow
{ "launches": [ { "kernel": "gemm", "grid": ["ceil_div(n, 32)", "m"], "block": [32],
                  "args": ["x", "x_scale", "w", "w_scale", "y", "n", "half_k"] } ] }
@*/
// Wrong: the scaled weights are rounded to half precision, as for a product of half-precision
// matrices.
#include <cuda_fp16.h>

extern "C" __global__ void gemm(const signed char* x, const float* x_scale, const unsigned char* w,
                                const __half* w_scale, __half* y, int n, int half_k) {
  const int row = blockIdx.y, j = blockIdx.x * 32 + threadIdx.x, groups = (half_k + 63) / 64;
  if (j >= n) {
    return;
  }
  float sum = 0.0f;
  for (int p = 0; p < 2 * half_k; ++p) {
    const int bits = w[(size_t)j * half_k + p / 2] >> p % 2 * 4 & 15;
    const float scale = __half2float(w_scale[(size_t)j * groups + p / 128]);
    const __half weight = __float2half(scale * ((bits ^ 8) - 8));
    sum += x[(size_t)row * 2 * half_k + p] * __half2float(weight);
  }
  y[(size_t)row * n + j] = __float2half(x_scale[row] * sum);
}
