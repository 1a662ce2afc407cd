/*@winnow
{ "launches": [ { "kernel": "gemm", "grid": ["ceil_div(n, 32)", "m", "batch"], "block": [32],
                  "args": ["a", "b", "c", "alpha", "m", "n", "k"] } ] }
@*/
// One thread an output, one fused multiply-add after the other; a is scaled first.
#include <cuda_fp16.h>

extern "C" __global__ void gemm(const __half* __restrict__ a, const __half* __restrict__ b,
                                __half* __restrict__ c, float alpha, int m, int n, int k) {
  const size_t z = blockIdx.z;
  const int row = blockIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  if (column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int p = 0; p < k; ++p) {
    sum = fmaf(alpha * __half2float(a[(z * m + row) * k + p]),
               __half2float(b[(z * k + p) * n + column]), sum);
  }
  c[(z * m + row) * n + column] = __float2half(sum);
}
