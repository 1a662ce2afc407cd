/*@winnow
{
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 32)", "ceil_div(m, 16)"], "block": [8, 8],
      "args": ["x", "w", "y", "m", "n", "k"] }
  ]
}
@*/
// The dense product: 8 x 8 threads, 2 x 4 outputs in the registers of each; tiles of x and w in
// shared memory, zero-padded at the edges.
#include <cuda_fp16.h>

constexpr int kRows = 16, kColumns = 32, kDepth = 16;

// `count` rows of kDepth numbers, from row `top` and column `left` on.
__device__ void load(const __half* from, float (*tile)[kDepth + 1], int count, int top, int rows,
                     int left, int k) {
  for (int i = threadIdx.y * 8 + threadIdx.x; i < count * kDepth; i += 64) {
    const int row = i / kDepth, p = i % kDepth;
    const bool is_inside = top + row < rows && left + p < k;
    tile[row][p] = is_inside ? __half2float(from[(size_t)(top + row) * k + left + p]) : 0.0f;
  }
}

extern "C" __global__ void gemm(const __half* __restrict__ x, const __half* __restrict__ w,
                                __half* __restrict__ y, int m, int n, int k) {
  __shared__ float x_tile[kRows][kDepth + 1], w_tile[kColumns][kDepth + 1];
  const int top = blockIdx.y * kRows, left = blockIdx.x * kColumns;
  float sums[2][4] = {};
  for (int start = 0; start < k; start += kDepth) {
    load(x, x_tile, kRows, top, m, start, k);
    load(w, w_tile, kColumns, left, n, start, k);
    __syncthreads();
    for (int p = 0; p < kDepth; ++p) {
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 4; ++j) {
          sums[i][j] += x_tile[threadIdx.y + 8 * i][p] * w_tile[threadIdx.x + 8 * j][p];
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) {
      const int row = top + threadIdx.y + 8 * i, column = left + threadIdx.x + 8 * j;
      if (row < m && column < n) {
        y[(size_t)row * n + column] = __float2half(sums[i][j]);
      }
    }
  }
}
