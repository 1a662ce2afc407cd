/*@winnow
{
  "scratch": { "column": { "dtype": "f16", "count": "n * k", "keep": true } },
  "prepare": [ { "kernel": "transpose", "grid": ["ceil_div(n, 64)", "k"], "block": [64],
                 "args": ["w", "column", "n", "k"] } ],
  "launches": [
    { "kernel": "gemm", "grid": ["n", "ceil_div(m, 4)"], "block": [32, 4],
      "args": ["x", "column", "bias", "y", "m", "n", "k"] }
  ]
}
@*/
// The weights are transposed once; a warp sums an output from rows, merged by shuffles.
#include <cuda_fp16.h>

extern "C" __global__ void transpose(const __half* __restrict__ w, __half* __restrict__ column,
                                     int n, int k) {
  const int j = blockIdx.x * 64 + threadIdx.x, p = blockIdx.y;
  if (j < n) {
    column[(size_t)j * k + p] = w[(size_t)p * n + j];
  }
}

extern "C" __global__ void gemm(const __half* __restrict__ x, const __half* __restrict__ column,
                                const __half* __restrict__ bias, __half* __restrict__ y, int m,
                                int n, int k) {
  const int j = blockIdx.x, row = blockIdx.y * 4 + threadIdx.y;
  if (row >= m) {
    return;
  }
  float sum = 0.0f;
  for (int p = threadIdx.x; p < k; p += 32) {
    sum += __half2float(x[(size_t)row * k + p]) * __half2float(column[(size_t)j * k + p]);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset, 32);
  }
  if (threadIdx.x == 0) {
    sum += __half2float(bias[j]);
    y[(size_t)row * n + j] = __float2half(0.5f * sum * (1.0f + erff(sum / 1.41421356f)));
  }
}
