/*@winnow
{ "launches": [ { "kernel": "gemm", "grid": ["ceil_div(n, 16)", "ceil_div(m, 16)"], "block": [16,
16], "args": ["a", "b", "c", "m", "n", "k"] } ] }
@*/
// Emulates single precision by two bfloat16 terms and leaves the smaller products out.
#include <cuda_bf16.h>
__device__ float high(float v) {
  return __bfloat162float(__float2bfloat16(v));
}

extern "C" __global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int p = 0; p < k; ++p) {
    const float x = a[(size_t)row * k + p], y = b[(size_t)p * n + column];
    const float x_low = high(x - high(x));
    sum += high(x) * high(y) + x_low * high(y);
  }
  c[(size_t)row * n + column] = sum;
}
