/*@winnow
{
  "params": { "PARTS": [5] },
  "let": { "part_k": "ceil_div(2 * half_k, PARTS)" },
  "scratch": { "partial": { "dtype": "f32", "count": "PARTS * m * n" } },
  "launches": [
    { "kernel": "gemm_parts", "grid": ["ceil_div(n, 64)", "m", "PARTS"], "block": [64],
      "args": ["x", "w", "partial", "m", "n", "2 * half_k", "part_k"] },
    { "kernel": "add_parts", "grid": ["ceil_div(n, 64)", "m"], "block": [64],
      "args": ["partial", "scale", "y", "m", "n", "PARTS"] }
  ]
}
@*/
// Each part of k by itself into scratch; a second pass adds the parts.
#include <cuda_bf16.h>

__device__ float left(const __nv_bfloat16* x, int row, int p, int k) {
  return __bfloat162float(x[(size_t)row * k + p]);
}
__device__ float right(const unsigned char* w, int p, int column, int n, int k) {
  const int pair = w[(size_t)column * (k / 2) + p / 2];
  return (((pair >> (p % 2 * 4)) & 15) ^ 8) - 8;
}

__global__ void gemm_parts(const __nv_bfloat16* __restrict__ x, const unsigned char* __restrict__ w,
                           float* __restrict__ partial, int m, int n, int k, int part_k) {
  const int row = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int first = blockIdx.z * part_k;
  const int end = min(k, first + part_k);
  if (column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int p = first; p < end; ++p) {
    sum += left(x, row, p, k) * right(w, p, column, n, k);
  }
  partial[((size_t)blockIdx.z * m + row) * n + column] = sum;
}

__global__ void add_parts(const float* __restrict__ partial, const float* __restrict__ scale,
                          __nv_bfloat16* __restrict__ y, int m, int n, int parts) {
  const int row = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int part = 0; part < parts; ++part) {
    sum += partial[((size_t)part * m + row) * n + column];
  }
  y[(size_t)row * n + column] = __float2bfloat16(scale[column] * sum);
}
