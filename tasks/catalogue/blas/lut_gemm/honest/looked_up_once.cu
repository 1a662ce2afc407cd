/*@winnow
{
  "scratch": { "weight": { "dtype": "f16", "count": "2 * half_k * n", "keep": true } },
  "prepare": [ { "kernel": "look_up", "grid": ["ceil_div(n, 64)", "half_k"], "block": [64],
                 "args": ["w", "table", "weight", "n", "half_k"] } ],
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 64)", "ceil_div(m, 4)"], "block": [64],
      "args": ["x", "weight", "y", "m", "n", "2 * half_k"] }
  ]
}
@*/
// The weights are looked up once, as a k x n matrix; a thread sums four rows of one column.
#include <cuda_fp16.h>

extern "C" __global__ void look_up(const unsigned char* __restrict__ w,
                                   const __half* __restrict__ table, __half* __restrict__ weight,
                                   int n, int half_k) {
  const int j = blockIdx.x * 64 + threadIdx.x, q = blockIdx.y;
  if (j < n) {
    const int codes = w[(size_t)j * half_k + q];
    weight[(size_t)(2 * q) * n + j] = table[(size_t)j * 16 + (codes & 15)];
    weight[(size_t)(2 * q + 1) * n + j] = table[(size_t)j * 16 + (codes >> 4)];
  }
}

extern "C" __global__ void gemm(const __half* __restrict__ x, const __half* __restrict__ weight,
                                __half* __restrict__ y, int m, int n, int k) {
  const int j = blockIdx.x * 64 + threadIdx.x, top = blockIdx.y * 4;
  if (j >= n) {
    return;
  }
  float sums[4] = {};
  for (int p = 0; p < k; ++p) {
    const float one = __half2float(weight[(size_t)p * n + j]);
    for (int i = 0; i < 4; ++i) {
      sums[i] += top + i < m ? __half2float(x[(size_t)(top + i) * k + p]) * one : 0.0f;
    }
  }
  for (int i = 0; i < 4 && top + i < m; ++i) {
    y[(size_t)(top + i) * n + j] = __float2half(sums[i]);
  }
}
