/*@winnow
{
  "params": { "T": [4] },
  "launches": [
    { "kernel": "gemm<{T}>", "grid": ["ceil_div(n, 8 * T)", "ceil_div(m, 8 * T)"], "block": [8, 8],
      "args": ["x", "x_scale", "w", "w_scale", "y", "m", "n", "2 * half_k"] }
  ]
}
@*/
// 8 x 8 threads, T x T outputs in the registers of each. Single precision holds the sum of a group
// exactly, because it is below 2^24.
#include <cuda_fp16.h>

template <int T>
__global__ void gemm(const signed char* __restrict__ x, const float* __restrict__ x_scale,
                     const unsigned char* __restrict__ w, const __half* __restrict__ w_scale,
                     __half* __restrict__ y, int m, int n, int k) {
  constexpr int kSide = 8 * T, kDepth = 16;
  __shared__ float left_tile[kSide][kDepth + 1];
  __shared__ float right_tile[kDepth][kSide + 1];
  const int top = blockIdx.y * kSide, first_column = blockIdx.x * kSide, groups = (k + 127) / 128;
  const int thread = threadIdx.y * 8 + threadIdx.x;
  float sums[T][T] = {}, whole[T][T] = {};
  for (int start = 0; start < k; start += kDepth) {
    for (int i = thread; i < kSide * kDepth; i += 64) {
      const int side = i / kDepth, p = start + i % kDepth;
      const int row = top + side, column = first_column + side;
      left_tile[side][i % kDepth] = p < k && row < m ? x[(size_t)row * k + p] : 0;
      const int bits = p < k && column < n ? w[((size_t)column * k + p) / 2] >> p % 2 * 4 & 15 : 0;
      right_tile[i % kDepth][side] = (bits ^ 8) - 8;
    }
    __syncthreads();
    for (int p = 0; p < kDepth; ++p) {
      for (int i = 0; i < T; ++i) {
        for (int j = 0; j < T; ++j) {
          whole[i][j] += left_tile[threadIdx.y + 8 * i][p] * right_tile[p][threadIdx.x + 8 * j];
        }
      }
    }
    __syncthreads();
    if ((start + kDepth) % 128 == 0 || start + kDepth >= k) { // a group ends
      for (int j = 0; j < T; ++j) {
        const int column = first_column + threadIdx.x + 8 * j;
        const size_t at = (size_t)column * groups + start / 128;
        const float scale = column < n ? __half2float(w_scale[at]) : 0.0f;
        for (int i = 0; i < T; ++i) {
          sums[i][j] += scale * whole[i][j];
          whole[i][j] = 0.0f;
        }
      }
    }
  }
  for (int i = 0; i < T; ++i) {
    for (int j = 0; j < T; ++j) {
      const int row = top + threadIdx.y + 8 * i, column = first_column + threadIdx.x + 8 * j;
      if (row < m && column < n) {
        y[(size_t)row * n + column] = __float2half(x_scale[row] * sums[i][j]);
      }
    }
  }
}
