/*@winnow
{
  "params": { "BLOCK": [64] },
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, BLOCK)", "m"], "block": ["BLOCK"],
      "args": ["a", "b", "c", "scale_a", "scale_b", "m", "n", "k"] }
  ]
}
@*/
// One thread an output, one fused multiply-add after the other.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

__device__ float left(const __nv_fp8_e4m3* a, int row, int p, int k) {
  return float(a[(size_t)row * k + p]);
}
__device__ float right(const __nv_fp8_e4m3* b, int p, int column, int n, int k) {
  return float(b[(size_t)column * k + p]);
}

__global__ void gemm(const __nv_fp8_e4m3* __restrict__ a, const __nv_fp8_e4m3* __restrict__ b,
                     __nv_bfloat16* __restrict__ c, float scale_a, float scale_b, int m, int n,
                     int k) {
  const int row = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int p = 0; p < k; ++p) {
    sum = fmaf(left(a, row, p, k), right(b, p, column, n, k), sum);
  }
  c[(size_t)row * n + column] = __float2bfloat16(scale_a * scale_b * sum);
}
