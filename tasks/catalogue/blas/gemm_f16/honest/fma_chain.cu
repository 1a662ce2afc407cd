/*@winnow
{
  "params": { "BLOCK": [64] },
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, BLOCK)", "m"], "block": ["BLOCK"],
      "args": ["a", "b", "c", "m", "n", "k"] }
  ]
}
@*/
// One thread an output, one fused multiply-add after the other.
#include <cuda_fp16.h>

__device__ float left(const __half* a, int row, int p, int k) {
  return __half2float(a[(size_t)row * k + p]);
}
__device__ float right(const __half* b, int p, int column, int n, int k) {
  return __half2float(b[(size_t)p * n + column]);
}

__global__ void gemm(const __half* __restrict__ a, const __half* __restrict__ b,
                     __half* __restrict__ c, int m, int n, int k) {
  const int row = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int p = 0; p < k; ++p) {
    sum = fmaf(left(a, row, p, k), right(b, p, column, n, k), sum);
  }
  c[(size_t)row * n + column] = __float2half(sum);
}
