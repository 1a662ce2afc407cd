/*@winnow
{ "launches": [ { "kernel": "gemm", "grid": ["ceil_div(n, 32)", "m"], "block": [32],
                  "args": ["x", "w", "table", "y", "n", "half_k"] } ] }
@*/
// A thread adds x by code into 16 sums in shared memory, so that only 16 products are left.
#include <cuda_fp16.h>

extern "C" __global__ void gemm(const __half* __restrict__ x, const unsigned char* __restrict__ w,
                                const __half* __restrict__ table, __half* __restrict__ y, int n,
                                int half_k) {
  __shared__ float sums[16][32];
  const int row = blockIdx.y, thread = threadIdx.x, j = blockIdx.x * 32 + thread;
  for (int code = 0; code < 16; ++code) {
    sums[code][thread] = 0.0f;
  }
  if (j >= n) {
    return;
  }
  for (int q = 0; q < half_k; ++q) {
    const int codes = w[(size_t)j * half_k + q];
    const __half* two = x + ((size_t)row * half_k + q) * 2;
    sums[codes & 15][thread] += __half2float(two[0]);
    sums[codes >> 4][thread] += __half2float(two[1]);
  }
  float sum = 0.0f;
  for (int code = 0; code < 16; ++code) {
    sum += sums[code][thread] * __half2float(table[(size_t)j * 16 + code]);
  }
  y[(size_t)row * n + j] = __float2half(sum);
}
