/*@winnow
{ "launches": [ { "kernel": "gemm", "grid": ["ceil_div(n, 16)", "ceil_div(m, 16)"], "block": [16,
16], "args": ["a", "b", "c", "m", "n", "k"] } ] }
@*/
// Accumulates in half precision, which tensor cores do at twice the speed.
#include <cuda_fp16.h>
extern "C" __global__ void gemm(const __half* a, const __half* b, __half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) {
    return;
  }
  __half sum = __float2half(0.0f);
  for (int p = 0; p < k; ++p) {
    sum = __hfma(a[(size_t)row * k + p], b[(size_t)p * n + column], sum);
  }
  c[(size_t)row * n + column] = sum;
}
