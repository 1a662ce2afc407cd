/*@winnow
{ "launches": [ { "kernel": "gemm", "grid": ["ceil_div(n, 64)", "m"], "block": [64],
                  "args": ["x", "w", "bias", "y", "n", "k"] } ] }
@*/
// One thread an output: the chain of fused multiply-adds begins with the bias. The normal
// distribution function gives GELU.
#include <cuda_fp16.h>

extern "C" __global__ void gemm(const __half* __restrict__ x, const __half* __restrict__ w,
                                const __half* __restrict__ bias, __half* __restrict__ y, int n,
                                int k) {
  const int row = blockIdx.y, column = blockIdx.x * 64 + threadIdx.x;
  if (column >= n) {
    return;
  }
  float sum = __half2float(bias[column]);
  for (int p = 0; p < k; ++p) {
    sum = fmaf(__half2float(x[(size_t)row * k + p]), __half2float(w[(size_t)p * n + column]), sum);
  }
  y[(size_t)row * n + column] = __float2half(sum * normcdff(sum));
}
