/*@winnow
{
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 16)", "ceil_div(m, 32)", "batch"], "block": [1],
      "args": ["a", "b", "c", "alpha", "m", "n", "k"] }
  ]
}
@*/
// A block is one thread with 32 x 16 outputs. It takes 64 columns of a and rows of b at a time into
// local memory as floats, with zeros at the edges. Four rows of sixteen sums stay in vector
// registers.
#include <cuda_fp16.h>

constexpr int kRows = 32, kColumns = 16, kDepth = 64;

__global__ void gemm(const __half* __restrict__ a, const __half* __restrict__ b,
                     __half* __restrict__ c, float alpha, int m, int n, int k) {
  const int top = blockIdx.y * kRows, left = blockIdx.x * kColumns;
  a += (size_t)blockIdx.z * m * k;
  b += (size_t)blockIdx.z * k * n;
  c += (size_t)blockIdx.z * m * n;
  float sums[kRows][kColumns] = {};
  for (int start = 0; start < k; start += kDepth) {
    const int depth = min(kDepth, k - start);
    float a_tile[kRows][kDepth], b_tile[kDepth][kColumns];
    for (int i = 0; i < kRows; ++i) {
      for (int p = 0; p < depth; ++p) {
        a_tile[i][p] = top + i < m ? __half2float(a[(size_t)(top + i) * k + start + p]) : 0.0f;
      }
    }
    for (int p = 0; p < depth; ++p) {
      for (int j = 0; j < kColumns; ++j) {
        b_tile[p][j] = left + j < n ? __half2float(b[(size_t)(start + p) * n + left + j]) : 0.0f;
      }
    }
    for (int i = 0; i < kRows; i += 4) {
      float four[4][kColumns];
      memcpy(four, sums[i], sizeof(four));
      for (int p = 0; p < depth; ++p) {
#pragma unroll
        for (int row = 0; row < 4; ++row) {
#pragma unroll
          for (int j = 0; j < kColumns; ++j) {
            four[row][j] += a_tile[i + row][p] * b_tile[p][j];
          }
        }
      }
      memcpy(sums[i], four, sizeof(four));
    }
  }
  for (int i = 0; i < min(kRows, m - top); ++i) {
    for (int j = 0; j < min(kColumns, n - left); ++j) {
      c[(size_t)(top + i) * n + left + j] = __float2half(alpha * sums[i][j]);
    }
  }
}
