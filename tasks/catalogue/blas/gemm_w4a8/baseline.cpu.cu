/*@winnow
{
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 16)", "ceil_div(m, 32)"], "block": [1],
      "args": ["x", "x_scale", "w", "w_scale", "y", "m", "n", "2 * half_k"] }
  ]
}
@*/
// A block is one thread with 32 x 16 outputs. It takes a group of 128 columns of x and w at a time
// into local memory as integers, with zeros at the edges. Four rows of sixteen sums stay in vector
// registers.
#include <cuda_fp16.h>

constexpr int kRows = 32, kColumns = 16, kDepth = 128;

// A weight from the low four bits.
__device__ int nibble(int bits) {
  return ((bits & 15) ^ 8) - 8;
}

__global__ void gemm(const signed char* __restrict__ x, const float* __restrict__ x_scale,
                     const unsigned char* __restrict__ w, const __half* __restrict__ w_scale,
                     __half* __restrict__ y, int m, int n, int k) {
  const int top = blockIdx.y * kRows, left = blockIdx.x * kColumns;
  const int groups = (k + kDepth - 1) / kDepth;
  float sums[kRows][kColumns] = {};
  for (int start = 0; start < k; start += kDepth) {
    const int depth = min(kDepth, k - start);
    int x_tile[kRows][kDepth], w_tile[kDepth][kColumns];
    float scales[kColumns];
    for (int i = 0; i < kRows; ++i) {
      for (int p = 0; p < depth; ++p) {
        x_tile[i][p] = top + i < m ? x[(size_t)(top + i) * k + start + p] : 0;
      }
    }
    for (int j = 0; j < kColumns; ++j) {
      const bool inside = left + j < n;
      const int group = start / kDepth;
      scales[j] = inside ? __half2float(w_scale[(size_t)(left + j) * groups + group]) : 0.0f;
      for (int p = 0; p < depth; ++p) {
        const size_t at = (size_t)(left + j) * k + start + p;
        w_tile[p][j] = inside ? nibble(w[at / 2] >> at % 2 * 4) : 0;
      }
    }
    for (int i = 0; i < kRows; i += 4) {
      int four[4][kColumns] = {};
      for (int p = 0; p < depth; ++p) {
#pragma unroll
        for (int row = 0; row < 4; ++row) {
#pragma unroll
          for (int j = 0; j < kColumns; ++j) {
            four[row][j] += x_tile[i + row][p] * w_tile[p][j];
          }
        }
      }
      for (int row = 0; row < 4; ++row) {
        for (int j = 0; j < kColumns; ++j) {
          sums[i + row][j] += scales[j] * four[row][j];
        }
      }
    }
  }
  for (int i = 0; i < min(kRows, m - top); ++i) {
    for (int j = 0; j < min(kColumns, n - left); ++j) {
      const float scaled = x_scale[top + i] * sums[i][j];
      y[(size_t)(top + i) * n + left + j] = __float2half(scaled);
    }
  }
}
