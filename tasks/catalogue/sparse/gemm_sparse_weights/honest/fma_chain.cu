/*@winnow
{
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 64)", "m"], "block": [64],
      "args": ["x", "w", "y", "n", "k"] }
  ]
}
@*/
// One thread an output, one fused multiply-add after the other. Products with a weight of 0 are
// left out.
#include <cuda_fp16.h>

extern "C" __global__ void gemm(const __half* __restrict__ x, const __half* __restrict__ w,
                                __half* __restrict__ y, int n, int k) {
  const int j = blockIdx.x * 64 + threadIdx.x;
  if (j >= n) {
    return;
  }
  const __half* numbers = x + (size_t)blockIdx.y * k;
  const __half* weights = w + (size_t)j * k;
  float sum = 0.0f;
  for (int p = 0; p < k; ++p) {
    const float weight = __half2float(weights[p]);
    if (weight != 0.0f) {
      sum = fmaf(__half2float(numbers[p]), weight, sum);
    }
  }
  y[(size_t)blockIdx.y * n + j] = __float2half(sum);
}
