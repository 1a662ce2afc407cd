/*@winnow
{ "launches": [ { "kernel": "gemm", "grid": ["ceil_div(n, 16)", "ceil_div(m, 16)"], "block": [16,
16], "args": ["a", "b", "c", "m", "n", "k"] } ] }
@*/
// Rounds the factors of a single-precision product to bfloat16.
#include <cuda_bf16.h>
__device__ float cut(float v) {
  return __bfloat162float(__float2bfloat16(v));
}

extern "C" __global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int p = 0; p < k; ++p) {
    sum += cut(a[(size_t)row * k + p]) * cut(b[(size_t)p * n + column]);
  }
  c[(size_t)row * n + column] = sum;
}
