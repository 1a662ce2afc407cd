/*@winnow
{ "launches": [ { "kernel": "gemm", "grid": ["ceil_div(n, 32)", "m"], "block": [32],
                  "args": ["x", "w", "table", "y", "n", "half_k"] } ] }
@*/
// One thread an output, one fused multiply-add after the other, lookups in caches.
#include <cuda_fp16.h>

extern "C" __global__ void gemm(const __half* __restrict__ x, const unsigned char* __restrict__ w,
                                const __half* __restrict__ table, __half* __restrict__ y, int n,
                                int half_k) {
  const int row = blockIdx.y, j = blockIdx.x * 32 + threadIdx.x;
  if (j >= n) {
    return;
  }
  const __half* weight = table + (size_t)j * 16;
  float sum = 0.0f;
  for (int q = 0; q < half_k; ++q) {
    const int codes = w[(size_t)j * half_k + q];
    const __half* two = x + ((size_t)row * half_k + q) * 2;
    sum = fmaf(__half2float(two[0]), __half2float(weight[codes & 15]), sum);
    sum = fmaf(__half2float(two[1]), __half2float(weight[codes >> 4]), sum);
  }
  y[(size_t)row * n + j] = __float2half(sum);
}
