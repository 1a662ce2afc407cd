/*@winnow
{
  "params": { "T": [4] },
  "launches": [
    { "kernel": "gemm<{T}>", "grid": ["ceil_div(n, 8 * T)", "ceil_div(m, 8 * T)"], "block": [8, 8],
      "args": ["a", "b", "c", "m", "n", "k"] }
  ]
}
@*/
// 8 x 8 threads, T x T outputs in the registers of each; tiles of 8 T rows and columns in shared
// memory, zero-padded at the edges.
#include <cuda_fp16.h>

__device__ float left(const __half* a, int row, int p, int k) {
  return __half2float(a[(size_t)row * k + p]);
}
__device__ float right(const __half* b, int p, int column, int n, int k) {
  return __half2float(b[(size_t)p * n + column]);
}

template <int T>
__global__ void gemm(const __half* __restrict__ a, const __half* __restrict__ b,
                     __half* __restrict__ c, int m, int n, int k) {
  constexpr int kSide = 8 * T, kDepth = 8;
  __shared__ float left_tile[kSide][kDepth + 1];
  __shared__ float right_tile[kDepth][kSide + 1];
  const int top = blockIdx.y * kSide, first_column = blockIdx.x * kSide;
  const int thread = threadIdx.y * 8 + threadIdx.x;
  float sums[T][T] = {};
  for (int start = 0; start < k; start += kDepth) {
    for (int i = thread; i < kSide * kDepth; i += 64) {
      const int side = i / kDepth, p = i % kDepth;
      const bool inside = start + p < k;
      left_tile[side][p] = inside && top + side < m ? left(a, top + side, start + p, k) : 0.0f;
      right_tile[p][side] =
          inside && first_column + side < n ? right(b, start + p, first_column + side, n, k) : 0.0f;
    }
    __syncthreads();
    for (int p = 0; p < kDepth; ++p) {
      for (int i = 0; i < T; ++i) {
        for (int j = 0; j < T; ++j) {
          sums[i][j] += left_tile[threadIdx.y + 8 * i][p] * right_tile[p][threadIdx.x + 8 * j];
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < T; ++i) {
    for (int j = 0; j < T; ++j) {
      const int row = top + threadIdx.y + 8 * i, column = first_column + threadIdx.x + 8 * j;
      if (row < m && column < n) {
        c[(size_t)row * n + column] = __float2half(sums[i][j]);
      }
    }
  }
}
