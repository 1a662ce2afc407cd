/*@winnow
{
  "params": { "SIDE": [4, 2] },
  "let": { "tile": "16 * SIDE" },
  "launches": [
    { "kernel": "gemm<{SIDE}>", "grid": ["ceil_div(n, tile)", "ceil_div(m, tile)", "batch"],
      "block": [16, 16], "args": ["a", "b", "c", "alpha", "m", "n", "k"] }
  ]
}
@*/
// 16 x 16 threads, SIDE x SIDE outputs in the registers of each; tiles of a and b in shared memory
// as float, 16 deep and zero-padded at the edges.
#include <cuda_fp16.h>

template <int SIDE>
__global__ void gemm(const __half* __restrict__ a, const __half* __restrict__ b,
                     __half* __restrict__ c, float alpha, int m, int n, int k) {
  constexpr int kTile = 16 * SIDE, kDepth = 16;
  __shared__ float a_tile[kDepth][kTile + 1];
  __shared__ float b_tile[kDepth][kTile];
  a += (size_t)blockIdx.z * m * k;
  b += (size_t)blockIdx.z * k * n;
  c += (size_t)blockIdx.z * m * n;
  const int top = blockIdx.y * kTile, left = blockIdx.x * kTile;
  const int thread = threadIdx.y * 16 + threadIdx.x;
  float sums[SIDE][SIDE] = {};
  for (int start = 0; start < k; start += kDepth) {
    for (int i = thread; i < kTile * kDepth; i += 256) {
      const int row = i / kDepth, p = i % kDepth;
      const bool inside = top + row < m && start + p < k;
      a_tile[p][row] = inside ? __half2float(a[(size_t)(top + row) * k + start + p]) : 0.0f;
    }
    for (int i = thread; i < kTile * kDepth; i += 256) {
      const int p = i / kTile, column = i % kTile;
      const bool inside = left + column < n && start + p < k;
      b_tile[p][column] = inside ? __half2float(b[(size_t)(start + p) * n + left + column]) : 0.0f;
    }
    __syncthreads();
    for (int p = 0; p < kDepth; ++p) {
      float rows[SIDE], columns[SIDE];
      for (int i = 0; i < SIDE; ++i) {
        rows[i] = a_tile[p][threadIdx.y + 16 * i];
        columns[i] = b_tile[p][threadIdx.x + 16 * i];
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
        c[(size_t)row * n + column] = __float2half(alpha * sums[i][j]);
      }
    }
  }
}
