/*@winnow
{
  "params": { "SIDE": [4, 2] },
  "let": { "tile": "16 * SIDE" },
  "launches": [
    { "kernel": "gemm<{SIDE}>", "grid": ["ceil_div(n, tile)", "ceil_div(m, tile)"],
      "block": [16, 16], "args": ["x", "w", "bias", "y", "m", "n", "k"] }
  ]
}
@*/
// 16 x 16 threads, SIDE x SIDE outputs in the registers of each; tiles of x and w in shared memory
// as float, 16 deep and zero-padded at the edges. Bias and GELU act on the registers.
#include <cuda_fp16.h>

__device__ float gelu(float t) {
  return 0.5f * t * (1.0f + erff(t * 0.70710678f));
}

template <int SIDE>
__global__ void gemm(const __half* __restrict__ x, const __half* __restrict__ w,
                     const __half* __restrict__ bias, __half* __restrict__ y, int m, int n, int k) {
  constexpr int kTile = 16 * SIDE, kDepth = 16;
  __shared__ float x_tile[kDepth][kTile + 1];
  __shared__ float w_tile[kDepth][kTile];
  const int top = blockIdx.y * kTile, left = blockIdx.x * kTile;
  const int thread = threadIdx.y * 16 + threadIdx.x;
  float sums[SIDE][SIDE] = {};
  for (int start = 0; start < k; start += kDepth) {
    for (int i = thread; i < kTile * kDepth; i += 256) {
      const int row = i / kDepth, p = i % kDepth;
      const bool inside = top + row < m && start + p < k;
      x_tile[p][row] = inside ? __half2float(x[(size_t)(top + row) * k + start + p]) : 0.0f;
    }
    for (int i = thread; i < kTile * kDepth; i += 256) {
      const int p = i / kTile, column = i % kTile;
      const bool inside = left + column < n && start + p < k;
      w_tile[p][column] = inside ? __half2float(w[(size_t)(start + p) * n + left + column]) : 0.0f;
    }
    __syncthreads();
    for (int p = 0; p < kDepth; ++p) {
      float rows[SIDE], columns[SIDE];
      for (int i = 0; i < SIDE; ++i) {
        rows[i] = x_tile[p][threadIdx.y + 16 * i];
        columns[i] = w_tile[p][threadIdx.x + 16 * i];
      }
      for (int i = 0; i < SIDE; ++i) {
        for (int j = 0; j < SIDE; ++j) {
          sums[i][j] += rows[i] * columns[j];
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < SIDE; ++i) {
    for (int j = 0; j < SIDE; ++j) {
      const int row = top + threadIdx.y + 16 * i, column = left + threadIdx.x + 16 * j;
      if (row < m && column < n) {
        y[(size_t)row * n + column] = __float2half(gelu(sums[i][j] + __half2float(bias[column])));
      }
    }
  }
}
